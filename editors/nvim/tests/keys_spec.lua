-- The keys of the output: to files, between iterations, and what can be done.
local child = require('child')
local expect = require('expect')
local it = _G.it

local browse = require('ralph.browse')

it('finds the file that a line names', function()
  local dir = child.folder() .. '/my app'
  vim.fn.mkdir(dir .. '/src', 'p')
  for _, name in ipairs({ 'src/app.go', 'a b.txt', '[id].ts' }) do
    child.write(dir .. '/' .. name, '')
  end
  local app = { path = dir .. '/src/app.go' }
  local function at(line, column)
    return vim.tbl_extend('error', app, { line = line, column = column })
  end
  for _, case in ipairs({
    { '✓ read  src/app.go', 0, app },
    { '✓ read  a b.txt', 0, { path = dir .. '/a b.txt' } },
    { '✓ read  ' .. dir .. '/src/app.go', 0, app },
    { '  │ src/app.go:12:3: undefined: x', 8, at(12, 3) },
    { '  │ src/app.go:12: undefined', 30, at(12) }, -- behind it
    { 'see `src/app.go:7`, please', 0, at(7) },
    { 'at (src/app.go:7).', 5, at(7) },
    { 'src/app.ts(3,4) or src/app.go(3,4)', 0, at(3, 4) },
    { '[the file](src/app.go#L9)', 12, nil },
    { 'src/app.go#L9', 0, at(9) },
    { 'file://' .. '/nowhere/x.go', 0, nil },
    { '@src/app.go is it', 0, app },
    { '[id].ts:2', 1, { path = dir .. '/[id].ts', line = 2 } },
    { 'src is a folder', 0, nil },
    { '', 0, nil },
    { ':::', 1, nil },
  }) do
    local found = browse.find(dir, case[1], case[2])
    if not vim.deep_equal(found, case[3]) then
      error(('%s: got %s'):format(case[1], vim.inspect(found)))
    end
  end
end)

--- A Neovim that looks at the output of a loop of three iterations that is over.
local function with_output()
  local dir = child.folder()
  child.write(dir .. '/main.go', ('line\n'):rep(30))
  child.write(dir .. '/1.sh', 'echo "main.go:12:3: broken"\n')
  child.write(dir .. '/2.sh', 'echo 2\n')
  child.write(dir .. '/3.sh', 'echo 3\n')
  local nvim = child.start({ dir = dir })
  nvim:command('edit main.go')
  nvim:command([[Ralph start --completion-promise=DONE 'agent: shell 3']])
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  nvim:command('Ralph output')
  nvim:wait([[vim.fn.search('■ done', 'nw') > 0]])
  return nvim
end

it('opens the place that the output names in the window of before', function()
  local nvim = with_output()
  local output = nvim:lua('return vim.api.nvim_get_current_win()')
  nvim:type('/main.go:12<CR><CR>')
  nvim:wait(
    [[vim.fn.expand('%:t') == 'main.go' and vim.fn.line('.') == 12 and vim.fn.col('.') == 3]]
  )
  assert(nvim:lua('return vim.api.nvim_get_current_win()') ~= output)
  expect.equal(nvim:lua('return #vim.api.nvim_list_wins()'), 2)
  nvim:command('wincmd p')
  nvim:type('gggf')
  nvim:wait_note('no file is named here')
  nvim:type('/main.go:12<CR>gf')
  nvim:wait([[vim.fn.expand('%:t') == 'main.go' and vim.fn.line('.') == 12]])
  expect.equal(nvim:lua('return { vim.api.nvim_get_current_win(), vim.v.errmsg }'), { output, '' })
end)

it('opens a place though the buffer there has unsaved changes', function()
  local nvim = with_output()
  nvim:command('wincmd p')
  nvim:command('enew')
  nvim:command('set nohidden')
  nvim:lua([[vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'mine' })]])
  nvim:command('wincmd p')
  nvim:type('/main.go:12<CR><CR>')
  nvim:wait_note('E37')
  expect.equal(nvim:text(), 'mine')
end)

it('folds the output of a tool, and opens all of it', function()
  local dir = child.folder()
  child.write(dir .. '/1.sh', 'seq 1 50000\n')
  local nvim = child.start({ dir = dir })
  nvim:command([[Ralph start --completion-promise=DONE 'agent: shell 1']])
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  nvim:command('Ralph output')
  nvim:wait([[vim.fn.search('■ done', 'nw') > 0]])
  nvim:lua([[vim.cmd('normal! zR'); vim.fn.search('✓ bash', 'w')]])
  nvim:command('normal! zc')
  expect.matches(
    nvim:lua([[return vim.fn.foldtextresult('.')]]),
    '^✓ bash  sh 1%.sh · 50,000 lines'
  )
  expect.contains(nvim:text(), '  │ … 49,988 lines\n  │ 49989\n')
  nvim:type('O')
  nvim:wait([[vim.api.nvim_buf_line_count(0) == 50000 and vim.fn.getline(777) == '777']])
  expect.equal(nvim:lua('return { vim.bo.readonly, #vim.api.nvim_list_wins() }'), { true, 2 })
end)

it('colours the markdown of each message by itself', function()
  local dir = child.folder()
  local nvim = child.start({ dir = dir })
  nvim:command('Ralph output')
  nvim:lua(
    [[
      local output, folder = require('ralph.output'), ...
      local function say(id, text)
        local update = { sessionUpdate = 'agent_message_chunk', messageId = id, content = { text = text } }
        output.update({ folder = folder }, update)
      end
      say('a', '# Title\n\n**bold** text\n\n```lua\nlocal x')
      say('b', 'plain `code`')
      say('c', 'end')
    ]],
    dir
  )
  local function group_at(pattern)
    return nvim:lua(
      [[
        local line, column = unpack(vim.fn.searchpos(..., 'nw'))
        return vim.iter(vim.inspect_pos(0, line - 1, column - 1).extmarks):map(function(mark)
          return mark.opts.hl_group
        end):totable()
      ]],
      pattern
    )
  end
  nvim:wait([[vim.fn.search('code', 'nw') > 0 and #vim.inspect_pos(0, 7, 7).extmarks > 0]])
  assert(vim.list_contains(group_at('Title'), '@markup.heading.1.markdown'))
  assert(vim.list_contains(group_at('bold'), '@markup.strong.markdown_inline'))
  assert(vim.list_contains(group_at('local'), '@keyword.lua'))
  assert(vim.list_contains(group_at('code'), '@markup.raw.markdown_inline'))
  expect.equal(group_at('plain'), {}) -- what the first left open ends with it
end)

it('walks the iterations', function()
  local nvim = with_output()
  for _, step in ipairs({ { 'G[[', 3 }, { '2[[', 1 }, { ']]', 2 }, { '<C-o>', 1 }, { '9]]', 3 } }) do
    nvim:type(step[1])
    nvim:wait([[vim.fn.getline('.'):find('^▌ iteration ' .. want)]], step[2])
  end
end)

it('has keys for what can be done, and a help that lists them', function()
  local nvim = child.start()
  nvim:command([[Ralph start --max-iterations=9 'agent: hang']])
  nvim:wait_file('tool.pid')
  nvim:wait([[require('ralph').statusline():find('bash sleep 900')]])
  nvim:command('Ralph output')
  nvim:type('g?')
  nvim:wait([[vim.api.nvim_win_get_config(0).relative == 'editor']])
  local text = nvim:text()
  for _, part in ipairs({
    'c      cancel',
    's      steer',
    'p      pause',
    ']]     the next iteration',
  }) do
    expect.contains(text, part)
  end
  assert(not text:find('discard'), text)
  nvim:type('q')
  nvim:wait([[vim.bo.filetype == 'ralph']])
  nvim:answer('^Tell ', 'Mind the gap')
  nvim:type('s')
  nvim:wait_note('the next run is told')
  nvim:type('p')
  nvim:wait([[require('ralph').status().loops[1].pausing]])
  nvim:type('x')
  nvim:wait_note("can't discard ")
  nvim:answer('^Cancel .*1/9', 'Leave it')
  nvim:type('c')
  nvim:wait('#answers == 0')
  expect.equal(nvim:lua([[return require('ralph').status().loops[1].live]]), true)
  nvim:answer('^Cancel ', 'Cancel it')
  nvim:type('c')
  nvim:wait_event('RalphEnded', { stopReason = 'cancelled' })
end)

it('takes its keys along when the buffer becomes another', function()
  local nvim = with_output()
  nvim:command('set filetype=text')
  expect.equal(nvim:lua([[return #vim.api.nvim_buf_get_keymap(0, 'n')]]), 0)
  expect.equal(nvim:lua('return vim.v.errmsg'), '')
end)

it('has the keys to map to that the documents name', function()
  local nvim = child.start({})
  for _, document in ipairs({ 'README.md', 'doc/ralph.txt' }) do
    local text = child.read(vim.fs.joinpath('editors/nvim', document))
    for key in text:gmatch('<Plug>%(ralph%-%w+%)') do
      expect.matches(nvim:lua(("return vim.fn.maparg('%s', 'n')"):format(key)), 'Ralph')
    end
  end
end)
