--- Finds the sidecar's program.
local config = require('ralph.config')

local M = {}

local install = 'install it with "npm install -g ralph-lsp" or "make build" in its checkout, '
  .. 'put it on PATH, or set vim.g.ralph = { cmd = { "/path/to/ralph-lsp", "--stdio" } }'
local install_fleet = 'run "make build" in the project and put its bin/ralph-fleet '
  .. 'beside ralph-lsp or on PATH, or take fleet out of vim.g.ralph'

---@param name string
---@return string
local function executable(name)
  return vim.fn.has('win32') == 1 and name .. '.exe' or name
end

--- Where programs work that help and are no agents: nobody but the administrator writes there.
M.outside = vim.fn.has('win32') == 1 and (vim.env.SystemRoot or 'C:\\Windows') or '/'

--- The absolute path of a program. A relative entry of PATH would name one of the folder, which an
--- agent may have written.
---@param name string
---@return string? path
local function find(name)
  if name:find('[/\\]') then
    return vim.fn.executable(name) == 1 and vim.fn.fnamemodify(name, ':p') or nil
  end
  local separator = vim.fn.has('win32') == 1 and ';' or ':'
  for dir in vim.gsplit(vim.env.PATH or '', separator, { plain = true }) do
    for _, file in ipairs(dir:match('^%a?:?[/\\]') and { name, executable(name) } or {}) do
      local path = vim.fs.joinpath(dir, file)
      if vim.fn.executable(path) == 1 then
        return path
      end
    end
  end
end

--- Where else than on PATH the program is: what a plugin manager's build step installed
--- beside this plugin, what mason has, what "make build" made of the checkout.
---@return string? path
local function near()
  local plugin = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h')
  local program = executable('ralph-lsp')
  local npm = vim.fs.joinpath(plugin, 'node_modules/@ralph-lsp/*/bin', program)
  return vim
    .iter({
      vim.fn.glob(npm, true, true)[1] or '',
      vim.fn.exepath(vim.fs.joinpath(vim.fn.stdpath('data'), 'mason/bin/ralph-lsp')),
      vim.fs.joinpath(vim.fn.fnamemodify(plugin, ':h:h'), 'bin', program),
    })
    :find(function(path)
      return vim.fn.executable(path) == 1
    end)
end

--- A program of ours that stands beside another.
---@param path string
---@param name string
---@return string? path
local function beside(path, name)
  local dir = vim.fs.dirname(vim.fn.exepath(path))
  local found = vim.fs.joinpath(dir, executable(name))
  return vim.fn.executable(found) == 1 and found or nil
end

--- The command line of ralph-lsp, or of what the user has in its place.
---@return string[]? cmd
---@return string? problem
local function own()
  local cmd = config.get().cmd
  if cmd then
    local program = find(cmd[1])
    if not program then
      return nil,
        ('%s (cmd in vim.g.ralph) is not an executable program: %s'):format(cmd[1], install)
    end
    return vim.list_extend({ program }, cmd, 2)
  end
  local path = find('ralph-lsp') or near()
  if not path then
    return nil, 'ralph-lsp was not found: ' .. install
  end
  return { path, '--stdio' }
end

---@class ralph.Sidecar
---@field cmd string[] the command line
---@field env table<string, string> what its environment has besides ours
---@field lack? string why it doesn't show the fleet, and what to do

--- The sidecar that is to be run, or why there is none and what to do. With a fleet it
--- is ralph-fleet in the place of ralph-lsp; any other program of the user's runs as it is.
---@return ralph.Sidecar? sidecar
---@return string? problem
function M.sidecar()
  local cmd, problem = own()
  if not cmd then
    return nil, problem
  end
  local bus = config.get().fleet.bus
  if not bus then
    return { cmd = cmd, env = {} }
  end
  local sidecar = { cmd = cmd, env = { RALPH_BUS = bus } }
  if vim.fs.basename(cmd[1]) == executable('ralph-lsp') then
    local fleet = beside(cmd[1], 'ralph-fleet') or find('ralph-fleet')
    if not fleet then
      local lack = 'the loops of %s are not shown, as ralph-fleet was not found: %s'
      sidecar.lack = lack:format(bus, install_fleet)
    else
      cmd[1] = fleet
    end
  end
  return sidecar
end

--- The program that completes flags.
---@return string
function M.completer()
  local cmd = own() or { '' }
  return beside(cmd[1], 'ralph-lsp') or cmd[1]
end

--- What the program says of its version.
---@param cmd string[]
---@return string? version
---@return string? problem
function M.version(cmd)
  local ok, result = pcall(function()
    return vim
      .system({ cmd[1], 'version' }, { text = true, cwd = M.outside, timeout = 3000 })
      :wait()
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
