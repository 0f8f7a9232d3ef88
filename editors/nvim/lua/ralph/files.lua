--- Reloads the buffers of files that loops change.
local notify = require('ralph.notify')
local wire = require('ralph.wire')

local M = {}

local kinds = wire.updates

---@type table<integer, true> buffers that were told to differ from their file
local told = {}

---@type table<integer, true> buffers that were opened before their file was there
local waiting = {}

---@param buf integer
---@return boolean
local function has_file(buf)
  return vim.uv.fs_stat(vim.api.nvim_buf_get_name(buf)) ~= nil
end

--- Follows which buffers wait for their file. Neovim asks about a file that comes
--- (W13) without FileChangedShell, and nothing says so of a buffer afterwards.
function M.watch()
  local group = vim.api.nvim_create_augroup('ralph.files', { clear = true })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local is_file = vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == ''
    if is_file and not has_file(buf) then
      waiting[buf] = true
    end
  end
  vim.api.nvim_create_autocmd('BufNewFile', {
    group = group,
    callback = function(event)
      waiting[event.buf] = true
    end,
  })
  vim.api.nvim_create_autocmd('BufWritePost', {
    group = group,
    callback = function(event)
      if vim.bo[event.buf].buftype == '' then
        require('ralph.client').saved(vim.api.nvim_buf_get_name(event.buf))
      end
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost', 'BufUnload' }, {
    group = group,
    callback = function(event)
      waiting[event.buf], told[event.buf] = nil, nil
    end,
  })
end

---@param buf integer
---@param what string
local function tell_once(buf, what)
  if told[buf] then
    return
  end
  told[buf] = true
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':~:.')
  notify.warn(('%s %s; the buffer is left as it is'):format(name, what))
end

--- Loads the file that a buffer waited for. Unsaved changes stay.
---@param buf integer
local function check_new(buf)
  if not has_file(buf) then
    return
  end
  if vim.bo[buf].modified then
    return tell_once(buf, 'was created while you have unsaved changes')
  end
  vim.api.nvim_buf_call(buf, function()
    pcall(vim.cmd, 'silent keepalt keepjumps edit') -- it is tried again after the next tool
  end)
end

--- Reloads a buffer whose file changed. One with unsaved changes, or whose file
--- is gone, stays as it is.
---@param buf integer
function M.check(buf)
  if waiting[buf] then
    return check_new(buf)
  end
  local group = vim.api.nvim_create_augroup('ralph.checktime', { clear = true })
  vim.api.nvim_create_autocmd('FileChangedShell', {
    group = group,
    callback = function()
      vim.v.fcs_choice = ''
      if vim.v.fcs_reason == 'deleted' then
        local is_state = vim.endswith(vim.api.nvim_buf_get_name(buf), '/' .. wire.state_file)
        local by = is_state and 'removed: the loop is over' or 'deleted'
        tell_once(buf, 'was ' .. by)
      elseif vim.bo[buf].modified then
        tell_once(buf, 'was changed while you have unsaved changes')
      else
        vim.v.fcs_choice = 'reload'
      end
    end,
  })
  pcall(vim.cmd.checktime, buf)
  vim.api.nvim_del_augroup_by_id(group)
end

---@param path string
---@param folder string
---@return boolean
local function is_below(path, folder)
  return vim.startswith(path, folder .. '/')
end

local check_interval = 300 -- milliseconds between two looks at all buffers
---@type table<string, true> folders that are about to be looked at
local pending = {}

--- Looks at all buffers of a folder soon. Waits while the user types a command
--- or answers a prompt: a reload would disturb it.
---@param folder string
function M.check_all(folder)
  if pending[folder] then
    return
  end
  pending[folder] = true
  vim.defer_fn(function()
    pending[folder] = nil
    if vim.api.nvim_get_mode().mode:match('^[cr!]') then
      return M.check_all(folder)
    end
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      local is_file = vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == ''
      local path = vim.fs.normalize(vim.api.nvim_buf_get_name(buf), { expand_env = false })
      if is_file and is_below(path, folder) then
        M.check(buf)
      end
    end
  end, check_interval)
end

--- Looks at the buffers after what may have changed files: any tool may.
---@param source ralph.Source
---@param update ralph.Update
function M.update(source, update)
  local kind = update.sessionUpdate
  local is_over = kind == kinds.tool_call_update and update.status ~= 'in_progress'
  if is_over or kind == kinds.iteration or kind == kinds.ending then
    M.check_all(source.folder)
  end
end

return M
