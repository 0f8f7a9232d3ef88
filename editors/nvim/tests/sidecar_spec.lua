local child = require('child')
local expect = require('expect')
local it = _G.it

it('starts a sidecar again that crashed, whose loop goes on meanwhile', function()
  local nvim = child.start()
  nvim:command([[Ralph start --max-iterations=7 --completion-promise=DONE 'agent: hang']])
  local tool = tonumber(nvim:wait_file('tool.pid'))
  local before = nvim:sidecar()
  vim.uv.kill(before, 'sigkill')
  nvim:wait_note('the sidecar stopped %(signal 9%) and was started again')
  nvim:wait([[require('ralph').statusline():find('^Ralph 1/7 · .*bash sleep 900')]])
  assert(nvim:sidecar() ~= before)
  assert(
    child.is_alive(tool) and tonumber(child.read(nvim.dir .. '/tool.pid')) == tool,
    'its tool was ended'
  )
  nvim:command('Ralph cancel')
  nvim:wait_event('RalphEnded', { stopReason = 'cancelled' })
end)

it('asks about a sidecar that crashes again', function()
  local nvim = child.start()
  nvim:command([[Ralph start --max-iterations=7 --completion-promise=DONE 'agent: hang']])
  nvim:wait_file('tool.pid')
  vim.uv.kill(nvim:sidecar(), 'sigkill')
  nvim:wait_note('was started again')
  nvim:wait([[#require('ralph.status').ours() > 0]]) -- it has found the loop, and is a window of it
  vim.uv.kill(nvim:sidecar(), 'sigkill')
  nvim:wait_event('RalphInterrupted')
  local asked = nvim:decide('sidecar stopped %(signal 9%)', 'Restart it')
  expect.equal({ unpack(asked.choices) }, { 'Restart it', 'later' })
  nvim:wait([[require('ralph').statusline():find('^Ralph')]])
end)

it('says what to do when there is no sidecar', function()
  local nvim = child.start({ ralph = { cmd = { '/nowhere/ralph-lsp' } } })
  nvim:command('Ralph start Build it')
  local note = nvim:wait_note('/nowhere/ralph%-lsp %(cmd in vim.g.ralph%) is not an executable')
  expect.contains(note.message, 'install it with')
  expect.equal(note.level, vim.log.levels.ERROR)
end)

it('says what to do when the sidecar is too old', function()
  local dir = child.folder()
  local old = dir .. '/old'
  child.write(
    old,
    [[#!/bin/sh
read -r header; read -r blank
answer='{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}'
printf 'Content-Length: %d\r\n\r\n%s' "${#answer}" "$answer"
exec cat >/dev/null
]]
  )
  vim.uv.fs_chmod(old, 493) -- 0755
  local nvim = child.start({ dir = dir, ralph = { cmd = { old, '--stdio' } } })
  nvim:command('Ralph start Build it')
  nvim:wait_note(
    'ralph%-lsp speaks version nil of the protocol, the plugin version 2: update ralph%-lsp'
  )
end)

it('gives up a sidecar that does not answer, and tries again', function()
  local dir = child.folder()
  local silent = dir .. '/silent'
  child.write(silent, '#!/bin/sh\nexec sleep 900\n')
  vim.uv.fs_chmod(silent, 493) -- 0755
  local nvim = child.start({ dir = dir, ralph = { cmd = { silent } } })
  nvim:lua([[require('ralph.client').patience = 100]])
  nvim:command('Ralph once hello')
  local note = nvim:wait_note('silent does not answer')
  expect.equal(note.level, vim.log.levels.ERROR)
  expect.contains(note.message, 'cmd in vim.g.ralph')
  nvim:wait('#vim.api.nvim_get_proc_children(vim.fn.getpid()) == 0')
  nvim:lua('vim.g.ralph = ...', { cmd = { vim.env.RALPH_BIN, '--stdio' } })
  nvim:lua([[require('ralph.client').patience = 60000]])
  nvim:command('Ralph once --backend=pi --completion-promise=DONE hello')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  expect.equal(#nvim:lua('return asked'), 0) -- nothing crashed
end)

it('asks the sidecar how the loops stand', function()
  local first = child.start()
  first:command([[Ralph start --max-iterations=4 'agent: hang']])
  first:wait_file('tool.pid')
  local second = child.start({ dir = first.dir, home = first.home, ralph = { autostart = false } })
  second:command('Ralph status')
  second:wait([[vim.fn.search('1/4 · .*bash sleep', 'nw') > 0]])
end)

it('restarts the sidecar', function()
  local nvim = child.start()
  nvim:command('Ralph cancel')
  nvim:wait_note('no loop')
  local before = nvim:sidecar()
  nvim:command('Ralph restart')
  nvim:wait_note('was restarted')
  assert(nvim:sidecar() and nvim:sidecar() ~= before)
  assert(not child.is_alive(before))
  expect.equal(nvim:lua('return #asked'), 0)
end)

it('offers a loop that another Neovim left behind', function()
  local first = child.start()
  first:command([[Ralph start --max-iterations=4 'agent: hang']])
  local tool = tonumber(first:wait_file('tool.pid'))
  first:quit()
  vim.wait(child.patience, function()
    return not child.is_alive(tool)
  end, 10)
  assert(not child.is_alive(tool), 'the tool is alive')

  local second = child.start({ dir = first.dir, home = first.home })
  second:command('doautocmd VimEnter') -- the first came before the test listened
  second:asked('Ralph: interrupted at 1/4')
  second:wait_event('RalphInterrupted', { folder = first.dir })
  second:answer('was interrupted here at iteration 1/4', 'Discard It and Start')
  second:command([[Ralph start --completion-promise=DONE 'new']])
  second:wait_event('RalphEnded', { stopReason = 'promise' })
end)

it('tells of a loop that failed, after a restart too', function()
  local failed = 'failed at 1/50: too many failures in a row'
  local first = child.start()
  first:command([[Ralph start --max-failures=1 --completion-promise=DONE 'agent: fail 2']])
  first:wait_event('RalphEnded', { stopReason = 'failures' })
  first:asked(failed .. ' %(.*it is broken.*%)')
  expect.equal(first:lua([[return require('ralph').statusline()]]), 'Ralph ' .. failed)
  first:quit()

  local second = child.start({ dir = first.dir, home = first.home })
  second:command('doautocmd VimEnter') -- the first came before the test listened
  local asked = second:decide(failed, 'later')
  expect.equal({ unpack(asked.choices) }, { 'Resume', 'Discard', 'later' })
  expect.equal(second:lua([[return require('ralph').statusline()]]), 'Ralph ' .. failed)
  second:answer('^A Ralph loop failed here at iteration 1/50: too many', 'Leave it')
  second:command([[Ralph start 'other']])
  second:wait('#asked == 1')
  second:command('Ralph resume')
  second:wait_event('RalphEnded', { stopReason = 'promise', iterations = 2 })
  expect.equal(vim.uv.fs_stat(first.dir .. '/.pi/ralph-loop.local.md'), nil)
end)

it('leaves nothing behind after :qa! in the middle of a run', function()
  local nvim = child.start()
  nvim:command([[Ralph start 'agent: hang']])
  local pids = { tonumber(nvim:wait_file('tool.pid')), nvim:sidecar() }
  expect.equal(#pids, 2)
  nvim:quit('qall!')
  vim.wait(child.patience, function()
    return not vim.iter(pids):any(child.is_alive)
  end, 5)
  expect.equal(vim.tbl_filter(child.is_alive, pids), {})
  expect.contains(child.read(nvim.dir .. '/.pi/ralph-loop.local.md'), 'active: true')
end)

it('asks about a sidecar that died, and Neovim says nothing of its own', function()
  for _, signal in ipairs({ 'sigkill', 'sigsegv' }) do
    local nvim = child.start()
    nvim:command('Ralph cancel')
    nvim:wait_note('no loop is running here')
    nvim:lua('notes = {}')
    vim.uv.kill(nvim:sidecar(), signal)
    nvim:asked('Ralph: the sidecar stopped %(')
    nvim:wait('#vim.lsp.get_clients() == 0')
    nvim:lua('vim.wait(50)') -- core's message would come in a turn of its own
    expect.equal(nvim:lua('return notes'), {})
  end
end)
