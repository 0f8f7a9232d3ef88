local child = require('child')
local expect = require('expect')
local it = _G.it

it('runs from start to promise', function()
  local dir = child.folder()
  child.write(dir .. '/work.txt', 'before\n')
  local nvim = child.start({ dir = dir })
  nvim:command('edit work.txt')
  nvim:command([[Ralph start --max-iterations=5 --completion-promise=DONE 'agent: promise 3']])
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })

  local names = nvim:lua([[
    local names = {}
    for _, event in ipairs(seen) do names[event.name] = (names[event.name] or 0) + 1 end
    return names
  ]])
  expect.equal(names.RalphStarted, 1)
  expect.equal(names.RalphIteration, 6)
  expect.equal(names.RalphTool, 6)
  expect.equal(names.RalphEnded, 1)
  assert(names.RalphCost >= 3, vim.inspect(names))

  local started = nvim:wait_event('RalphStarted')
  expect.equal(started.folder, dir)

  local note = nvim:wait_note('done: DONE after 3 iterations')
  expect.equal(note.level, vim.log.levels.INFO)
  nvim:wait([[vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'iteration 3']])
  nvim:wait([[require('ralph').statusline():find('^Ralph done · %$%d')]])
  expect.matches(nvim:lua('return vim.g.ralph_status'), '^Ralph done')
  expect.equal(nvim:lua([[return require('ralph').status().loops[1].state]]), 'ended')
end)

it('shows a receipt in a narrow window', function()
  local nvim = child.start()
  local prompt = '"Mend the parser, and all that hangs on it.\nagent: promise 1"'
  nvim:lua([[require('ralph').start({ text = '--completion-promise=DONE ' .. ... })]], prompt)
  nvim:wait_event('RalphEnded')
  nvim:command('Ralph output')
  nvim:command('vsplit | vertical resize 40')
  nvim:wait([[vim.fn.search('^  Asked  \\+Mend the parser', 'w') > 0]])
  local at, rest = nvim:wrapped('Mend')
  expect.equal(rest, at) -- lines go on behind the label
end)

it('shows the run in the output buffer', function()
  local nvim = child.start()
  nvim:command('set columns=200') -- else the heading of a fold is cut
  nvim:command('Ralph output')
  expect.contains(nvim:text(), 'No loop has run here yet')
  nvim:command([[Ralph start --max-iterations=5 --completion-promise=DONE 'agent: promise 2']])
  nvim:wait_event('RalphEnded')
  nvim:wait([[vim.fn.search('■ done: DONE after 2 iterations', 'n') > 0]])
  local text = nvim:text()
  expect.matches(
    text,
    '▌ iteration 1 of 5 · ok · %$0%.%d+ · %d turns? · 1 tool call · [%d.]+s\n'
  )
  expect.contains(text, '✓ write  work.txt\n  │ Successfully wrote work.txt')
  expect.contains(text, 'More is to be done.')
  expect.contains(text, '<promise>DONE</promise>')
  assert(not text:find('No loop has run'), text)

  expect.equal(nvim:lua('return { vim.bo.filetype, vim.bo.modifiable, vim.bo.buftype }'), {
    'ralph',
    false,
    'nofile',
  })
  local folds = nvim:lua([[
    local first = vim.fn.search('iteration 1', 'nw')
    local second = vim.fn.search('iteration 2', 'nw')
    return {
      { vim.fn.foldclosed(first), vim.fn.foldlevel(second), vim.fn.foldclosed(second) },
      vim.fn.getline(vim.fn.foldclosedend(first)),
      vim.fn.foldtextresult(first),
    }
  ]])
  expect.equal(folds[1], { 3, 1, -1 })
  expect.equal(folds[2], 'More is to be done.')
  expect.matches(folds[3], 'iteration 1 of 5 · ok · %$0%.%d+ · .*· [%d.]+s · %d+ lines')
  expect.equal(nvim:lua([[return vim.fn.line('.') == vim.fn.line('$')]]), true)

  nvim:lua([[vim.fn.search('✓ write  work', 'bw'); vim.cmd.normal({ '2W', bang = true })]])
  nvim:command('normal gf')
  expect.matches(nvim:lua('return vim.api.nvim_buf_get_name(0)'), '/work%.txt$')
  nvim:command('buffer #')
  nvim:type('q')
  nvim:wait('#vim.api.nvim_list_wins() == 1')
end)

it('opens files whose paths have spaces', function()
  local dir = child.folder() .. '/my app'
  vim.fn.mkdir(dir)
  local nvim = child.start({ dir = dir })
  nvim:command([[Ralph start --completion-promise=DONE 'agent: spaces']])
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  nvim:command('Ralph output')
  nvim:wait([[vim.fn.search('✓ write  my file.txt', 'w') > 0]])
  nvim:lua([[vim.cmd.normal('2Wgf')]])
  expect.equal(nvim:lua('return vim.api.nvim_buf_get_name(0)'), dir .. '/my file.txt')
end)

it('does not follow the run while the user reads above', function()
  local nvim = child.start()
  nvim:command([[Ralph start --max-iterations=3 'agent: steps 4']])
  nvim:command('Ralph output')
  nvim:wait([[vim.api.nvim_buf_line_count(0) > 4]])
  nvim:command('normal! gg')
  local count = nvim:lua('return vim.api.nvim_buf_line_count(0)')
  nvim:wait('vim.api.nvim_buf_line_count(0) > want', count)
  expect.equal(nvim:lua([[return vim.fn.line('.')]]), 1)
end)

it('ticks while nothing is heard', function()
  local nvim = child.start()
  nvim:command([[Ralph start 'agent: hang']])
  nvim:wait([[require('ralph').statusline():find('^Ralph 1/50 .*bash sleep 900 · %d+s$')]])
  local before = nvim:lua([[return require('ralph').statusline()]])
  nvim:wait([[require('ralph').statusline() ~= want]], before)
  expect.matches(nvim:lua([[return require('ralph').statusline()]]), 'bash sleep 900 · %d+s$')
  -- It doesn't for each turn of the main loop.
  nvim:lua([[
    _G.turns, _G.redraws = 0, 0
    vim.api.nvim_create_autocmd('User', {
      pattern = 'RalphStatus',
      callback = function() redraws = redraws + 1 end,
    })
    vim.uv.new_timer():start(1, 1, vim.schedule_wrap(function() turns = turns + 1 end))
  ]])
  nvim:wait('turns >= 1000 and redraws >= 1')
  local turns, redraws = unpack(nvim:lua('return { turns, redraws }'))
  assert(redraws <= turns / 10, ('%d redraws in %d turns'):format(redraws, turns))
end)

it('runs once', function()
  local nvim = child.start({ ralph = { notify = 'never' } })
  nvim:command([[Ralph once 'agent: promise 9']])
  local ended = nvim:wait_event('RalphEnded')
  expect.equal({ ended.stopReason, ended.iterations }, { 'max_iterations', 1 })
  nvim:lua('vim.wait(100)')
  expect.equal(nvim:lua('return #asked'), 0)
  local notes = nvim:lua('return notes')
  for _, note in ipairs(notes) do
    assert(not note.message:find('stopped'), vim.inspect(notes))
  end
end)

it('takes a selection with quotes and newlines as it is', function()
  local nvim = child.start()
  local lines = {
    [[Say "hi" and 'bye' --max-iterations=9;]],
    [[  $(rm -rf x) `y` \n %d % # <cword>]],
    'ünï ▌ end',
  }
  nvim:lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)', lines)
  nvim:command('1,3Ralph start --completion-promise=DONE --no-instruct')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  expect.equal(nvim:wait_file('prompt.txt'), table.concat(lines, '\n'))
end)

it('takes a part of a line that is selected', function()
  local nvim = child.start()
  nvim:lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)', { 'one two three' })
  nvim:type('0wve:Ralph start --completion-promise=DONE --no-instruct<CR>')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  expect.equal(nvim:wait_file('prompt.txt'), 'two')
end)

it('takes lines as they are that an old selection has, too', function()
  for _, range in ipairs({ '2', '2,2', '%' }) do
    local nvim = child.start()
    local lines = range == '%' and { 'one two three' } or { 'first', 'one two three' }
    nvim:lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)', lines)
    nvim:type('Gwviw<Esc>:' .. range .. 'Ralph once --completion-promise=DONE --no-instruct<CR>')
    nvim:wait_event('RalphEnded', { stopReason = 'promise' })
    expect.equal(nvim:wait_file('prompt.txt'), 'one two three')
    nvim:quit()
  end
end)

it('takes the selection of a mapping', function()
  local nvim =
    child.start({ ralph = { flags = { '--backend=pi', '--no-instruct', '--max-iterations=1' } } })
  nvim:command('xmap gs <Plug>(ralph-start)')
  nvim:lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)', { 'one two three' })
  nvim:type('0wviwgs')
  expect.equal(nvim:wait_file('prompt.txt'), 'two')
end)

it('puts a text before the lines of a range', function()
  local nvim = child.start()
  nvim:lua('vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)', { 'one', 'two' })
  nvim:command([[%Ralph start --completion-promise=DONE --no-instruct Don't break "this"]])
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  expect.equal(nvim:wait_file('prompt.txt'), 'Don\'t break "this"\n\none\ntwo')
end)

it('takes PROMPT.md when there is no prompt', function()
  local dir = child.folder()
  child.write(dir .. '/PROMPT.md', 'Do what is in the file.\n')
  local nvim = child.start({ dir = dir })
  nvim:command('Ralph start --completion-promise=DONE --no-instruct')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  expect.matches(nvim:wait_file('prompt.txt'), '^Do what is in the file%.')
end)

it('says which flag is wrong', function()
  local nvim = child.start()
  nvim:command('Ralph start --max-iteration=3 Build it')
  local note = nvim:wait_note('did you mean %-%-max%-iterations')
  expect.equal(note.level, vim.log.levels.ERROR)
end)

it('understands the commands of other tools', function()
  local nvim = child.start()
  nvim:command([[Ralph start /ralph-loop "agent: promise 9" --max-iterations 2]])
  nvim:wait_event('RalphEnded', { stopReason = 'max_iterations', iterations = 2 })
  nvim:command([[Ralph start /cancel-ralph]])
  nvim:wait_note('is cancelled') -- it could have gone on
  nvim:command([[Ralph start /cancel-ralph]])
  nvim:wait_note('no loop is running here')
  nvim:command([[Ralph start 'agent: hang']])
  nvim:wait_file('tool.pid')
  nvim:lua([[require('ralph').start({ prompt = '/cancel-ralph' })]])
  nvim:wait_event('RalphEnded', { stopReason = 'cancelled' })
  nvim:command([[Ralph start /ralph-help]])
  nvim:wait([[vim.bo.buftype == 'help' and vim.fn.expand('%:t') == 'ralph.txt']])
end)

it('asks before it replaces a loop', function()
  local nvim = child.start()
  nvim:command([[Ralph start 'agent: hang']])
  nvim:wait_file('tool.pid')
  nvim:answer('^Ralph loop active. Cancel it to start the new task%?$', 'Leave it')
  nvim:command([[Ralph start 'other']])
  nvim:wait('#asked == 1')
  expect.equal(nvim:lua([[return require('ralph').status().loops[1].state]]), 'running')
  nvim:answer('^Ralph loop active. Cancel it to start the new task%?$', 'Cancel It and Start')
  nvim:command([[Ralph start --completion-promise=DONE 'other']])
  nvim:wait_event('RalphEnded', { stopReason = 'cancelled' })
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
end)

it('offers to raise a limit that was reached', function()
  local nvim = child.start()
  nvim:command([[Ralph start --max-iterations=1 --completion-promise=DONE 'agent: promise 3']])
  local raise = 'Raise to 2 iterations and Go On'
  local asked = nvim:decide('Ralph: stopped: iteration limit reached', raise)
  expect.equal({ unpack(asked.choices) }, { raise, 'Discard', 'Go on with another limit', 'later' })
  nvim:wait_event('RalphEnded', { stopReason = 'max_iterations', iterations = 2 })
  nvim:asked('Raise to [^2]')
end)

it('takes no key of who types while a loop ends', function()
  local nvim = child.start()
  nvim:lua([[vim.api.nvim_buf_set_lines(0, 0, -1, false, { ('2'):rep(40), 'second' })]])
  nvim:command([[Ralph start --max-iterations=1 --completion-promise=DONE 'agent: promise 3']])
  nvim:wait([[vim.iter(vim.api.nvim_list_wins()):any(function(win)
    return vim.api.nvim_win_get_config(win).relative ~= ''
  end)]])
  nvim:type(('x'):rep(40) .. '2<CR>1yy') -- the choices have numbers
  nvim:wait([[vim.fn.getline(1) == '' and vim.fn.getreg('"') == 'second\n']])
  expect.equal(nvim:lua('return { #asked, vim.fn.mode() }'), { 0, 'n' })
  expect.equal(nvim:lua([[return require('ralph').status().loops[1].iteration]]), 1)
end)

it('discards a loop at its limit only when that is said twice', function()
  local nvim = child.start()
  nvim:command([[Ralph start --max-iterations=1 --completion-promise=DONE 'agent: promise 3']])
  nvim:answer('^Discard%?$', 'Leave it')
  nvim:decide('Ralph: stopped: iteration limit reached', 'Discard')
  nvim:wait('#answers == 0')
  expect.equal(nvim:lua([=[return require('ralph').status().loops[1].can[1]]=]), 'resume')
  nvim:answer('^Discard%?$', 'Discard')
  nvim:command('Ralph resume')
  nvim:decide('iteration limit reached', 'Discard')
  nvim:wait(
    [=[not vim.list_contains((require('ralph').status().loops[1] or {}).can or {}, 'resume')]=]
  )
end)

it('asks with no picker what comes after the next key', function()
  local nvim = child.start()
  nvim:lua([[vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'first', 'second' })]])
  nvim:command("Ralph start 'agent: hang'")
  nvim:wait([=[(require('ralph').status().loops[1] or {}).state == 'running']=])
  nvim:type(":Ralph start 'other'<CR>jyy")
  nvim:asked('Ralph loop active. Cancel it to start the new task')
  expect.equal(nvim:lua([[return { #asked, vim.fn.getreg('"') }]]), { 0, 'second\n' })
end)

it('asks for a new limit before a loop at its limit is resumed', function()
  local nvim = child.start({ ralph = { notify = 'never' } })
  nvim:command([[Ralph start --max-iterations=1 --completion-promise=DONE 'agent: promise 3']])
  nvim:wait_event('RalphEnded', { stopReason = 'max_iterations' })
  nvim:wait([[require('ralph').statusline():find('limit reached')]])
  nvim:answer('the limit', '0')
  nvim:command('Ralph resume')
  nvim:decide('limit reached', 'Go on with another limit')
  local note = nvim:wait_note('0 would be no limit of iterations') -- it must be meant
  expect.equal(note.level, vim.log.levels.ERROR)
  nvim:answer('the limit', '+2')
  nvim:command('Ralph resume')
  nvim:decide('limit reached', 'Go on with another limit')
  nvim:wait_event('RalphEnded', { stopReason = 'promise', iterations = 3 })
  expect.equal(#nvim:lua('return asked'), 2)
end)

it('offers to double a time limit', function()
  local nvim = child.start()
  nvim:command([[Ralph start --max-time=1s 'agent: hang']])
  nvim:wait_event('RalphEnded', { stopReason = 'max_time' })
  expect.equal(nvim:asked('time limit').choices[1], 'Raise to 2s and Go On')
  expect.equal(nvim:lua([[return require('ralph').status().loops[1].stopReason]]), 'max_time')
end)
