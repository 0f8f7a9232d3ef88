local child = require('child')
local expect = require('expect')
local it = _G.it

--- Runs a loop of two iterations to its end and leaves Neovim. Returns what the
--- next Neovim needs to find it, as interrupt does.
local function run_and_leave()
  local nvim = child.start()
  nvim:command([[Ralph start --completion-promise=DONE --max-iterations=3 'agent: promise 2']])
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  nvim:quit()
  return { dir = nvim.dir, home = nvim.home }
end

--- Leaves Neovim in the middle of the third iteration, where a file "hold" holds it.
local function interrupt()
  local nvim = child.start({ ralph = { notify = 'never' } })
  nvim:command([[Ralph start --completion-promise=DONE --max-iterations=2 'agent: promise 3']])
  nvim:wait_event('RalphEnded', { stopReason = 'max_iterations' })
  child.write(nvim.dir .. '/hold', '')
  nvim:command('Ralph resume --max-iterations=5')
  nvim:wait_event('RalphTool', { status = 'in_progress', iteration = 3 })
  nvim:interrupt()
  nvim:wait_event('RalphInterrupted')
  nvim:quit()
  return { dir = nvim.dir, home = nvim.home }
end

it('shows the output of a loop that ended before Neovim began', function()
  local nvim = child.start(run_and_leave())
  nvim:command('Ralph output')
  nvim:wait([[vim.fn.search('■ done: DONE after 2 iterations', 'nw') > 0]])
  expect.contains(nvim:text(), '▌ iteration 1 of 3 · ok')
  assert(not nvim:text():find('No loop has run'), nvim:text())
end)

it('shows an interrupted loop in an output that is opened at the start', function()
  local options = interrupt()
  options.args = { '-c', 'Ralph output' }
  local nvim = child.start(options)
  nvim:wait([[vim.fn.search('iteration 3 of 5', 'nw') > 0]])
  expect.contains(nvim:text(), 'iteration 1 of 2 · ok')
end)

it('keeps what was before when an interrupted loop is resumed', function()
  local nvim = child.start(interrupt())
  vim.uv.fs_unlink(nvim.dir .. '/hold')
  nvim:command('Ralph resume')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  nvim:command('Ralph output')
  nvim:wait([[vim.fn.search('■ done: DONE after 3 iterations', 'nw') > 0]])
  local _, count = nvim:text():gsub('iteration 1 of 2', '')
  expect.equal(count, 1)
end)

it('brings the output back with a session of Neovim', function()
  local options = run_and_leave()
  local first = child.start(options)
  first:command('Ralph output')
  first:wait([[vim.fn.search('■ done', 'nw') > 0]])
  first:command('mksession')
  first:quit()
  options.args = { '-S' }
  local nvim = child.start(options)
  nvim:wait([[vim.fn.search('■ done', 'nw') > 0]])
  expect.equal(nvim:lua('return { vim.bo.filetype, vim.bo.modifiable }'), { 'ralph', false })
  local windows = nvim:lua('return #vim.api.nvim_list_wins()')
  nvim:command('Ralph output')
  expect.equal(nvim:lua('return #vim.api.nvim_list_wins()'), windows)
end)

it('says so when no window can be made for the output', function()
  local nvim = child.start({ ralph = { output = { split = 'botrigth vsplit' } } })
  nvim:command('Ralph output')
  nvim:wait_note('"botrigth vsplit" %(output.split in vim.g.ralph%) makes no window')
  expect.equal(nvim:lua('return vim.bo.filetype'), 'ralph')
end)

it('follows a loop that another Neovim drives', function()
  local dir = child.folder()
  child.write(dir .. '/hold', '')
  local first = child.start({ dir = dir, ralph = { notify = 'never' } })
  first:command([[Ralph start --completion-promise=DONE --max-iterations=2 'agent: promise 3']])
  first:wait_event('RalphTool', { status = 'in_progress', iteration = 1 })
  local second = child.start({ dir = dir, home = first.home, ralph = { autostart = false } })
  second:command('Ralph output')
  second:wait([[vim.fn.search('iteration 1 of 2', 'nw') > 0]])
  vim.uv.fs_unlink(dir .. '/hold')
  first:wait_event('RalphEnded', { stopReason = 'max_iterations' })
  second:wait([[vim.fn.search('■ stopped', 'nw') > 0]])
  first:command('Ralph resume --max-iterations=5')
  first:wait_event('RalphEnded', { stopReason = 'promise' })
  second:wait([[vim.fn.search('■ done: DONE after 3 iterations', 'nw') > 0]])
  local _, count = second:text():gsub('iteration 1 of 2', '')
  expect.equal(count, 1)
end)

it('keeps the iterations that another Neovim ran when it resumes a loop', function()
  local dir = child.folder()
  local ralph = { autostart = false, notify = 'never' }
  local settings = { ralph = ralph, dir = dir, home = child.folder() }
  child.write(dir .. '/hold', '')
  local first = child.start(settings)
  first:command([[Ralph start --completion-promise=DONE --max-iterations=1 'agent: promise 3']])
  first:wait_event('RalphTool', { status = 'in_progress', iteration = 1 })
  local second = child.start(settings)
  second:command('Ralph output')
  second:wait([[vim.fn.search('iteration 1 of 1', 'nw') > 0]])
  vim.uv.fs_unlink(dir .. '/hold')
  first:wait_event('RalphEnded', { stopReason = 'max_iterations' })
  child.write(dir .. '/hold', '')
  first:command('Ralph resume --max-iterations=9')
  first:wait_event('RalphTool', { status = 'in_progress', iteration = 2 })
  first:interrupt()
  second:wait_event('RalphInterrupted')
  vim.uv.fs_unlink(dir .. '/hold')
  second:command('Ralph resume')
  second:wait_event('RalphEnded', { stopReason = 'promise' })
  second:wait([[vim.fn.search('■ done', 'nw') > 0]])
  for _, heading in ipairs({ '1 of 1 · ok', '2 of 9', '3 of 9 · ok' }) do
    expect.contains(second:text(), '▌ iteration ' .. heading)
  end
end)

it('tries again after an output that could not be read', function()
  local nvim = child.start(run_and_leave())
  nvim:lua([[
    local client = require('ralph.client')
    local execute = client.execute
    client.execute = function(folder, command, argument, callback)
      if command ~= 'ralph.loop.read' then
        return execute(folder, command, argument, callback)
      end
      client.execute = execute
      callback({ message = 'it is locked' })
    end
  ]])
  nvim:command('Ralph output')
  nvim:wait_note('could not be read back: it is locked')
  nvim:command('Ralph output')
  nvim:wait([[vim.fn.search('■ done: DONE after 2 iterations', 'nw') > 0]])
  expect.equal(#nvim:lua('return notes'), 1)
end)
