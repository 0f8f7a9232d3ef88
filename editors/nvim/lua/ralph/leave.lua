--- What happens when Neovim is left while a loop runs. The sidecar itself ends
--- everything within a second when its standard input closes.
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

---@type integer? the buffer that makes Neovim ask
local guard
---@type table<integer, integer> the buffers that windows had before
local shown = {}

local function remove_guard()
  local buf = guard
  guard = nil
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if shown[win] and vim.api.nvim_buf_is_valid(shown[win]) then
      vim.api.nvim_win_set_buf(win, shown[win])
    end
  end
  vim.bo[buf].modified = false
  vim.api.nvim_buf_delete(buf, { force = true })
end

---@param loops ralph.Loop[]
---@return string
local function title(loops)
  local names = vim.tbl_map(function(loop)
    return vim.fs.basename(wire.folder(loop))
  end, loops)
  return ('Ralph loop running in %s (leaving interrupts it)'):format(table.concat(names, ', '))
end

---@type boolean whether the command line that runs has :confirm before a command that leaves
local confirming = false

--- The guard is to be saved: by :wqa, which asks nothing, or because the user
--- said so for all that isn't saved. While it stays modified, Neovim stays.
---@param buf integer
local function leave_or_stay(buf)
  local question = vim.api.nvim_buf_get_name(buf)
  if vim.fn.confirm(vim.fs.basename(question) .. '. Leave?', '&Leave\n&Stay', 2) == 1 then
    vim.bo[buf].modified = false
  else
    vim.schedule(remove_guard)
  end
end

--- Makes Neovim ask, as it does for text that isn't saved: with 'confirm' :qa
--- asks, and :qa! doesn't.
local function set_guard()
  remove_guard()
  local loops = status.ours()
  if #loops == 0 or not (vim.o.confirm or confirming) then
    return
  end
  shown = {}
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    shown[win] = vim.api.nvim_win_get_buf(win)
  end
  guard = vim.api.nvim_create_buf(false, false)
  vim.bo[guard].buftype = 'acwrite'
  vim.bo[guard].swapfile = false
  vim.api.nvim_buf_set_name(guard, title(loops))
  vim.bo[guard].modified = true
end

local watching = false

--- Watches for the end of Neovim; once is enough.
function M.watch()
  if watching then
    return
  end
  watching = true
  local group = vim.api.nvim_create_augroup('ralph.leave', { clear = true })
  vim.api.nvim_create_autocmd('ExitPre', { group = group, callback = set_guard })
  vim.api.nvim_create_autocmd('CmdlineLeave', {
    group = group,
    pattern = ':',
    callback = function()
      confirming = vim.fn.getcmdline():find('%f[%a]conf%a*%s+[wqx]') ~= nil
      vim.schedule(function()
        confirming = false
      end)
    end,
  })
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    group = group,
    pattern = 'Ralph loop running in *',
    callback = function(event)
      leave_or_stay(event.buf)
    end,
  })
  vim.api.nvim_create_autocmd('BufEnter', {
    group = group,
    callback = function(event)
      if event.buf == guard then -- the user stays
        vim.schedule(remove_guard)
      end
    end,
  })
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = group,
    callback = function()
      require('ralph.client').stop()
    end,
  })
  for event, focused in pairs({ FocusGained = true, FocusLost = false }) do
    vim.api.nvim_create_autocmd(event, {
      group = group,
      callback = function()
        require('ralph.notify').set_focused(focused)
      end,
    })
  end
end

return M
