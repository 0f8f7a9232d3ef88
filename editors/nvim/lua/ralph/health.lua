--- :checkhealth ralph
local binary = require('ralph.binary')
local client = require('ralph.client')
local config = require('ralph.config')
local wire = require('ralph.wire')

local M = {}

local patience = 5000 -- milliseconds for the sidecar's answer

local function check_neovim()
  vim.health.start('ralph: Neovim and settings')
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok('Neovim ' .. tostring(vim.version()))
  else
    vim.health.error('Neovim 0.10 or newer is needed')
  end
  local _, problems = config.read()
  for _, problem in ipairs(problems) do
    vim.health.warn(problem, 'see :help ralph-options')
  end
  if #problems == 0 then
    vim.health.ok('vim.g.ralph has no mistakes')
  end
end

--- Asks the sidecar's doctor, and waits for its answer.
---@return table[]? checks
---@return string? problem
local function examine()
  local done, failure, found
  client.execute(
    config.folder(),
    wire.commands.doctor,
    { folder = vim.uri_from_fname(config.folder()) },
    function(err, result)
      done, failure, found = true, err, result
    end
  )
  vim.wait(patience, function()
    return done
  end, 10)
  if failure then
    return nil, failure.message
  end
  return found and found.checks, not found and 'the sidecar did not answer in time' or nil
end

---@param checks table[]
local function report(checks)
  local unsaid = vim.tbl_filter(function(check)
    return check.id ~= 'version' -- it stands above, with the program's path
  end, checks)
  for _, check in ipairs(unsaid) do
    if check.ok then
      vim.health.ok(check.message)
    elseif vim.startswith(check.id, 'backend.') then
      vim.health.info(check.message .. (check.fix and ': ' .. check.fix or ''))
    else
      vim.health.warn(check.message, check.fix)
    end
  end
end

local function check_sidecar()
  vim.health.start('ralph: sidecar')
  local sidecar, problem = binary.sidecar()
  if not sidecar then
    vim.health.error(problem --[[@as string]])
    return
  end
  local version, failure = binary.version(sidecar.cmd)
  if version then
    vim.health.ok(('%s (%s)'):format(version, sidecar.cmd[1]))
  else
    vim.health.error(failure --[[@as string]])
  end
  if sidecar.lack then
    vim.health.warn(sidecar.lack)
  end
  local log = require('ralph.log').path()
  vim.health.info(log and 'log: ' .. log or 'no log (log = false)')
  local checks, why = examine()
  if not checks then
    vim.health.error(why --[[@as string]])
    return
  end
  vim.health.start('ralph: agents and folder')
  report(checks)
end

function M.check()
  check_neovim()
  check_sidecar()
end

return M
