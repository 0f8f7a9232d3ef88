-- Repositories in which loops work, for the specs of what they change.
local child = require('child')

local M = {}

local function git(dir, ...)
  local identity = { '-c', 'user.name=ann', '-c', 'user.email=ann@localhost' }
  local command = vim.list_extend(vim.list_extend({ 'git' }, identity), { ... })
  local done = vim.system(command, { cwd = dir, env = { HOME = dir } }):wait()
  assert(done.code == 0, done.stderr)
end

--- A repository with files, and scripts for the iterations of an agent.
function M.make(files, ...)
  local dir = child.folder()
  for name, text in pairs(files) do
    vim.fn.mkdir(vim.fs.dirname(dir .. '/' .. name), 'p')
    child.write(dir .. '/' .. name, text)
  end
  for index, script in ipairs({ ... }) do
    child.write(('%s/%d.sh'):format(dir, index), script)
  end
  git(dir, 'init', '-q', '--template=')
  git(dir, 'add', '-A')
  git(dir, 'commit', '-q', '-m', 'first')
  return dir
end

--- A Neovim in it, after a loop that ran the scripts.
function M.after_loop(files, ...)
  local nvim = child.start({ dir = M.make(files, ...) })
  local count = select('#', ...)
  nvim:command(("Ralph start --completion-promise=DONE 'agent: shell %d'"):format(count))
  nvim:wait_event('RalphEnded', { stopReason = 'promise', iterations = count })
  return nvim
end

return M
