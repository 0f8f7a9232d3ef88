--- The files that loops touch: reloads their buffers, lists them.
local events = require('ralph.events')
local notify = require('ralph.notify')
local wire = require('ralph.wire')

local M = {}

local kinds = wire.updates

---@class ralph.TouchedFile
---@field path string absolute
---@field line integer
---@field iteration? integer the last that touched it
---@field kind string of the tool
---@field count integer

---@class ralph.FolderFiles
---@field touched ralph.TouchedFile[] in the order of the first touch
---@field by_path table<string, ralph.TouchedFile>
---@field running table<string, table> tool calls by id
---@field told table<integer, true> buffers whose changes aren't saved

---@type table<string, ralph.FolderFiles>
local folders = {}

--- Tools that say which files they change.
local changes = { edit = true, delete = true, move = true }
--- Tools that may change any.
local may_change = { execute = true, other = true, think = true }

---@param folder string
---@return ralph.FolderFiles
local function of(folder)
  local files = folders[folder]
  if not files then
    files = { touched = {}, by_path = {}, running = {}, told = {} }
    folders[folder] = files
  end
  return files
end

--- Forgets the files of a folder's loop: another follows.
---@param folder string
function M.reset(folder)
  folders[folder] = nil
end

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
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost', 'BufUnload' }, {
    group = group,
    callback = function(event)
      waiting[event.buf] = nil
    end,
  })
end

---@param buf integer
---@param told table<integer, true>
---@param what string
local function tell_once(buf, told, what)
  if told[buf] then
    return
  end
  told[buf] = true
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':~:.')
  notify.warn(('%s %s; the buffer is left as it is'):format(name, what))
end

--- Loads the file that a buffer waited for. Unsaved changes stay.
---@param buf integer
---@param told table<integer, true>
local function check_new(buf, told)
  if not has_file(buf) then
    return
  end
  if vim.bo[buf].modified then
    return tell_once(buf, told, 'was created by the agent while you have unsaved changes')
  end
  vim.api.nvim_buf_call(buf, function()
    pcall(vim.cmd, 'silent keepalt keepjumps edit') -- it is tried again after the next tool
  end)
end

--- Reloads a buffer whose file changed. One with unsaved changes, or whose file
--- is gone, stays as it is.
---@param buf integer
---@param told table<integer, true>
local function check(buf, told)
  if waiting[buf] then
    return check_new(buf, told)
  end
  local group = vim.api.nvim_create_augroup('ralph.checktime', { clear = true })
  vim.api.nvim_create_autocmd('FileChangedShell', {
    group = group,
    callback = function()
      vim.v.fcs_choice = ''
      if vim.v.fcs_reason == 'deleted' then
        local is_state = vim.endswith(vim.api.nvim_buf_get_name(buf), '/' .. wire.state_file)
        local by = is_state and 'removed: the loop is over' or 'deleted by the agent'
        tell_once(buf, told, 'was ' .. by)
      elseif vim.bo[buf].modified then
        tell_once(buf, told, 'was changed by the agent while you have unsaved changes')
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
        check(buf, of(folder).told)
      end
    end
  end, check_interval)
end

---@param source ralph.Source
---@param call table the update that began it
---@param tell? fun(path: string)
local function record(source, call, tell)
  local files = of(source.folder)
  for _, location in ipairs(call.locations or {}) do
    local path = location.path
    if not vim.startswith(path, '/') and not path:match('^%a:[/\\]') then
      path = vim.fs.joinpath(source.folder, path)
    end
    path = vim.fs.normalize(path, { expand_env = false })
    local file = files.by_path[path]
    if not file then
      file = { path = path, line = location.line or 1, kind = call.kind, count = 0 }
      files.by_path[path] = file
      table.insert(files.touched, file)
    end
    file.iteration, file.kind, file.count = source.iteration, call.kind, file.count + 1
    if tell then
      tell(path)
    end
  end
end

--- Follows the tools of a loop, and lists what those changed that ended.
---@param source ralph.Source
---@param update ralph.Update
---@param tell? fun(call: table, path: string)
---@return table? call that ended
local function follow(source, update, tell)
  local kind, files = update.sessionUpdate, of(source.folder)
  if kind == kinds.iteration then
    files.running = {} -- ids begin again
  elseif kind == kinds.tool_call then
    files.running[update.toolCallId] = update
  elseif kind == kinds.tool_call_update and update.status ~= 'in_progress' then
    local call = files.running[update.toolCallId]
    files.running[update.toolCallId] = nil
    if call and changes[call.kind] and update.status == 'completed' then
      record(source, call, tell and function(path)
        tell(call, path)
      end)
    end
    return call
  end
end

--- Lists what a loop changes, tells it, and looks at the buffers.
---@param source ralph.Source
---@param update ralph.Update
---@param is_ours boolean the loop runs here; else it is listed, no more
function M.update(source, update, is_ours)
  local kind = update.sessionUpdate
  local call = follow(source, update, is_ours and function(call, path)
    local data = { path = path, kind = call.kind, toolCallId = call.toolCallId }
    events.fire('FileEdited', source, data)
  end or nil)
  local may_be_changed = call and (changes[call.kind] or may_change[call.kind])
  if is_ours and (may_be_changed or kind == kinds.iteration or kind == kinds.ending) then
    M.check_all(source.folder)
  end
end

--- The files that a folder's loop touched, in the order of the first touch.
---@param folder string
---@return ralph.TouchedFile[]
function M.list(folder)
  return folders[folder] and folders[folder].touched or {}
end

---@param folder string
local function fill_quickfix(folder)
  local items = {}
  for _, file in ipairs(M.list(folder)) do
    local times = file.count == 1 and 'once' or file.count .. ' times'
    table.insert(items, {
      filename = file.path,
      lnum = file.line,
      text = ('%s %s, last in iteration %s'):format(file.kind, times, file.iteration or '?'),
    })
  end
  vim.fn.setqflist({}, ' ', { title = 'Ralph: files of the loop', items = items })
  if #items == 0 then
    notify.info('the loop has touched no files yet')
  else
    vim.cmd('botright copen')
  end
end

--- Fills the quickfix list with them and opens it.
---@param folder string
function M.quickfix(folder)
  require('ralph.feed').read(folder, function(err)
    if err then
      notify.warn('the files could not be read back: ' .. err.message)
    end
    fill_quickfix(folder)
  end)
end

return M
