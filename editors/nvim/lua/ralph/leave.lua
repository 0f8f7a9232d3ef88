--- What happens when Neovim is left while a loop runs that would end with it. The sidecar
--- itself ends everything within a second when its standard input closes.
local idle = require('ralph.idle')
local notify = require('ralph.notify')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

---@type integer? the buffer that makes Neovim ask, or refuse
local guard
---@type boolean whether the command line that runs has :confirm before a command that leaves
local confirming = false
---@type boolean whether Neovim asks about the guard
local asks

local function remove_guard()
  if guard then
    vim.bo[guard].modified = false
    vim.api.nvim_buf_delete(guard, { force = true }) -- and its window
    guard = nil
  end
end

--- The loops that end with Neovim. One that may be left has nothing to be detached from.
---@return string names
local function ending()
  local names = {}
  for _, loop in ipairs(status.ours()) do
    if vim.list_contains(loop.can or {}, 'detach') then
      table.insert(names, vim.fs.basename(wire.folder(loop)))
    end
  end
  return table.concat(names, ', ')
end

--- The guard is to be saved: by :wqa, which asks nothing, or because the user
--- said so for all that isn't saved. While it stays modified, Neovim stays.
---@param buf integer
local function leave_or_stay(buf)
  local words = vim.fs.basename(vim.api.nvim_buf_get_name(buf))
  if not asks then
    notify.error(words)
  elseif vim.fn.confirm(words .. '. Leave?', '&Leave\n&Stay', 2) == 1 then
    vim.bo[buf].modified = false
  end
end

--- Makes Neovim refuse, or with 'confirm' ask, as it does for text that isn't saved: :qa!
--- leaves. It goes to what it refuses for, so that has a window: else the current one would
--- show it, and might unload what it has.
local function set_guard()
  remove_guard()
  local names = ending()
  if names == '' then
    return
  end
  asks = vim.o.confirm or confirming
  local words = asks and 'Ralph loop running in %s (leaving interrupts it)'
    or 'Ralph loop in %s: :Ralph detach keeps it, :qa! ends it'
  guard = vim.api.nvim_create_buf(false, false)
  vim.bo[guard].buftype = 'acwrite'
  vim.bo[guard].swapfile = false
  vim.api.nvim_buf_set_name(guard, words:format(names))
  vim.bo[guard].modified = true
  vim.api.nvim_open_win(guard, false, {
    relative = 'editor',
    row = 0,
    col = 0,
    width = 1,
    height = 1,
    hide = true,
    noautocmd = true,
  })
  idle.run(remove_guard) -- Neovim stays, whatever it refused for
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
    pattern = 'Ralph loop *',
    callback = function(event)
      if event.buf == guard then
        leave_or_stay(event.buf)
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufEnter', {
    group = group,
    callback = function(event)
      if event.buf == guard then -- Neovim stays, be it in insert mode
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
