--- What code lenses and code actions do. Neovim would send their commands itself:
--- past the settings, and without a word of what came of them.
local config = require('ralph.config')
local loops = require('ralph.loops')
local wire = require('ralph.wire')

local M = {}

---@type table<string, fun(folder: string, argument: table)> by command, where it isn't just run
local special = {
  [wire.commands.start] = loops.start_clicked,
  [wire.commands.undo] = function(folder, argument)
    require('ralph.changes').take_back(folder, wire.commands.undo, argument, 'Undo')
  end,
  [wire.commands.redo] = function(folder, argument)
    require('ralph.changes').take_back(folder, wire.commands.redo, argument)
  end,
}

---@param clicked lsp.Command
local function run(clicked)
  local argument = vim.deepcopy((clicked.arguments or {})[1] or {})
  local folder = argument.folder and vim.uri_to_fname(argument.folder) or config.folder()
  local act = special[clicked.command]
  if act then
    return act(folder, argument)
  end
  loops.run(folder, clicked.command, argument)
end

--- The client's own commands: all that the sidecar has, by their ids.
---@return table<string, fun(clicked: lsp.Command)>
function M.handlers()
  local handlers = {}
  for _, id in pairs(wire.commands) do
    handlers[id] = run
  end
  return handlers
end

return M
