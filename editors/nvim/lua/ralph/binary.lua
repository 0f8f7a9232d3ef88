--- Finds the sidecar's program.
local config = require('ralph.config')

local M = {}

local install = 'install it with "go install ./cmd/ralph-lsp" in the project, '
  .. 'put it on PATH, or set vim.g.ralph = { cmd = { "/path/to/ralph-lsp", "--stdio" } }'

--- Where "make build" of the checkout that has this plugin puts the program.
---@return string
local function built()
  local here = debug.getinfo(1, 'S').source:sub(2)
  local checkout = vim.fn.fnamemodify(here, ':p:h:h:h:h:h')
  local name = vim.fn.has('win32') == 1 and 'ralph-lsp.exe' or 'ralph-lsp'
  return vim.fs.joinpath(checkout, 'bin', name)
end

--- The sidecar's command line, or why there is none and what to do.
---@return string[]? cmd
---@return string? problem
function M.command()
  local cmd = config.get().cmd
  if cmd then
    if vim.fn.executable(cmd[1]) == 0 then
      return nil,
        ('%s (cmd in vim.g.ralph) is not an executable program: %s'):format(cmd[1], install)
    end
    cmd = vim.list_slice(cmd)
  else
    local path = vim.fn.exepath('ralph-lsp')
    if path == '' then
      path = vim.fn.executable(built()) == 1 and built() or ''
    end
    if path == '' then
      return nil, 'ralph-lsp was not found: ' .. install
    end
    cmd = { path, '--stdio' }
  end
  return cmd
end

--- What the program says of its version.
---@param cmd string[]
---@return string? version
---@return string? problem
function M.version(cmd)
  local ok, result = pcall(function()
    return vim.system({ cmd[1], 'version' }, { text = true, timeout = 3000 }):wait()
  end)
  if not ok then
    return nil, tostring(result)
  end
  if result.code ~= 0 then
    return nil, ('%s version failed (exit code %d)'):format(cmd[1], result.code)
  end
  return vim.trim(result.stdout or '')
end

return M
