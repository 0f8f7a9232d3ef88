--- Ralph loops in Neovim: the functions for configurations and other plugins. Those that are not
--- here have the names of :Ralph's subcommands; ralph.commands has them.
local M = {}

--- Sets vim.g.ralph; nothing needs this to be called.
---@param options? ralph.Config
function M.setup(options)
  vim.g.ralph = options or vim.empty_dict()
end

--- The text that a buffer's file had before the loop, or as the user kept it last:
--- "" where there was no file. The callback gets nil for one that isn't text, or
--- that no loop's snapshots have.
---@param buf integer 0: the current one
---@param callback fun(text: string?)
function M.base(buf, callback)
  local folder, changes = require('ralph.config').folder(), require('ralph.changes')
  local path = changes.relative(folder, vim.api.nvim_buf_get_name(buf))
  changes.file(folder, { path = path }, function(_, text)
    callback(text)
  end)
end

--- A cached text for status lines, "" when there is nothing to say.
---@return string
function M.statusline()
  return require('ralph.status').statusline()
end

return setmetatable(M, {
  __index = function(_, name)
    local subcommand = require('ralph.commands').all[name]
    return subcommand and subcommand.call
  end,
})
