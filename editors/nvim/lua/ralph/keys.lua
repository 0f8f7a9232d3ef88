--- The keys of the plugin's own buffers, with a help that lists them.
local M = {}

---@class ralph.Key
---@field [1] string what is typed
---@field [2] string what it does, in a few words
---@field [3] fun()
---@field wanted? fun(): boolean whether the help has it now; nil: always

---@type ralph.Key
M.close = {
  'q',
  'close the window',
  function()
    if not pcall(vim.api.nvim_win_close, 0, false) then
      vim.cmd('silent! buffer #') -- the last window
    end
  end,
}

--- Lists keys in a window.
---@param title string
---@param keys ralph.Key[]
local function help(title, keys)
  local lines = {}
  for _, key in ipairs(keys) do
    if not key.wanted or key.wanted() then
      table.insert(lines, ('%-6s %s'):format(key[1], key[2]))
    end
  end
  require('ralph.show').lines(title, lines)
end

--- Gives a buffer its keys, and g? for their help.
---@param buf integer
---@param title string of the help
---@param keys ralph.Key[]
function M.set(buf, title, keys)
  local all = vim.list_extend({}, keys)
  table.insert(all, {
    'g?',
    'this help',
    function()
      help(title, all)
    end,
  })
  for _, key in ipairs(all) do
    vim.keymap.set('n', key[1], key[3], { buffer = buf, nowait = true, desc = 'Ralph: ' .. key[2] })
  end
  vim.b[buf].ralph_keys = vim.tbl_map(function(key)
    return key[1]
  end, all)
end

--- Takes a buffer's keys away.
---@param buf integer
function M.remove(buf)
  for _, lhs in ipairs(vim.b[buf].ralph_keys or {}) do
    pcall(vim.keymap.del, 'n', lhs, { buffer = buf })
  end
  vim.b[buf].ralph_keys = nil
end

return M
