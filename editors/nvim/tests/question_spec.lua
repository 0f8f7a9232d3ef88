-- What agents ask, as testdata/wire has it.
local child = require('child')
local expect = require('expect')
local it = _G.it

local root = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h'))
  .. '/../..'

---@type table<string, table> by their ids
local questions = {}
for _, one in ipairs(vim.json.decode(child.read(root .. '/testdata/wire/questions.json'))) do
  questions[one.id] = one
end

--- Lets the sidecar say what a loop's agent asks. What the child sends it is kept.
local function asks(nvim, ...)
  nvim:lua(
    [[
      local loop = { loopId = 'ralph-ca7igygdcr4i', folder = 'file:///w/app', title = 'app' }
      loop = vim.tbl_extend('error', loop, {
        name = 'Ralph', state = 'waiting', class = 'warning', live = true, owned = true,
        line = '3/50', text = '3/50', can = { 'answer', 'update' }, questions = ...,
        allowed = select(2, ...),
      })
      _G.sent = {}
      require('ralph.client').execute = function(_, command, argument, callback)
        table.insert(sent, { command = command, argument = argument })
        callback(nil, { text = 'done' })
      end
      require('ralph.feed').status({ message = '', loops = { loop } })
    ]],
    vim.tbl_map(function(id)
      return questions[id]
    end, { ... })
  )
end

--- Waits until the window is there, and returns its lines.
local function window(nvim)
  return nvim:wait([[vim.iter(vim.api.nvim_list_wins()):map(function(win)
    local config = vim.api.nvim_win_get_config(win)
    return config.relative ~= '' and config.title and {
      win = win, title = config.title[1][1], anchor = config.anchor,
      footer = config.footer[1][1],
      lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false),
    } or nil
  end):totable()[1] ]])
end

local function wait_gone(nvim)
  nvim:wait('#vim.api.nvim_list_wins() == 1')
end

--- Waits until what was scheduled before is done.
local function turn(nvim)
  nvim:lua('_G.turned = false vim.schedule(function() turned = true end)')
  nvim:wait('turned')
end

local function enter(nvim)
  window(nvim)
  nvim:command('Ralph answer')
  nvim:wait([[vim.api.nvim_win_get_config(0).relative ~= '']])
end

--- Waits for an answer, and returns what it is.
local function answer(nvim)
  local sent = nvim:wait('sent[1]')
  expect.equal(sent.command, 'ralph.loop.answer')
  expect.equal(sent.argument.loopId, 'ralph-ca7igygdcr4i')
  return { sent.argument.id, sent.argument.answer, sent.argument.text }
end

it('takes no key from who writes', function()
  local nvim = child.start()
  nvim:type('ihello')
  asks(nvim, 'q1')
  local shown = window(nvim)
  expect.equal({ shown.title, shown.anchor }, { ' Ralph asks: Bash git commit -m wip ', 'SE' })
  expect.equal(shown.lines, { 'git commit -m wip' })
  nvim:type(' dDol<CR>')
  nvim:wait([[vim.fn.line('$') == 2]])
  nvim:type('<Esc>')
  nvim:wait_note('^Ralph asks: Bash git commit %-m wip %(:Ralph answer%)$')
  expect.equal(nvim:text(), 'hello dDol\n')
  expect.equal(nvim:lua('return #sent'), 0)
  nvim:wait_event('RalphQuestion', { id = 'q1', kind = 'permission' })
end)

it('says how to get there, by the mapping where there is one', function()
  local nvim = child.start()
  asks(nvim, 'q1')
  expect.equal(window(nvim).footer, ' :Ralph answer goes here ')
  asks(nvim)
  wait_gone(nvim)
  nvim:lua([[vim.keymap.set({ 'n', 'i' }, '<F2>', '<Plug>(ralph-answer)')]])
  asks(nvim, 'q1')
  expect.equal(window(nvim).footer, ' <F2> goes here ')
  nvim:type('i<F2>d') -- from insert mode, too
  expect.equal(answer(nvim), { 'q1', 'deny' })
end)

it('says in the corner what is to be decided once, and all of it when it is entered', function()
  local nvim = child.start()
  nvim:lua([[
    local here = { id = 'x', folder = vim.fn.getcwd(), name = 'Ralph', text = 'interrupted at 3' }
    here.choices, here.is_moot = { { 'Resume', function() end } }, function() return false end
    require('ralph.question').decide(here)
  ]])
  local shown = window(nvim)
  expect.equal({ shown.title, shown.lines }, { ' Ralph: interrupted at 3 ', { '→ Resume' } })
  expect.contains(nvim:asked('interrupted').text, 'interrupted at 3')
end)

it('opens behind a command line', function()
  local nvim = child.start()
  nvim:type(':echo 1')
  nvim:wait([[vim.fn.getcmdline() == 'echo 1']])
  asks(nvim, 'q1')
  turn(nvim)
  expect.equal(nvim:lua([[return vim.fn.getcmdline() .. #vim.api.nvim_list_wins()]]), 'echo 11')
  nvim:type('<Esc>')
  window(nvim)
end)

for _, one in ipairs({
  { 'q1', 'd', { 'q1', 'deny' } },
  { 'q1', 'D', { 'q1', 'deny', 'not that folder' } },
  { 'q1', 'o', { 'q1', 'once' } },
  { 'q1', 'l', { 'q1', 'loop' } },
  { 'q2', 'o', { 'q2', 'once' } },
  { 'q3', 'n', { 'q3', 'deny' } },
  { 'q3', 'y', { 'q3', 'once' } },
  { 'q4', 'd', { 'q4', 'deny' } },
  { 'q4', '2', { 'q4', 'value', 'production' } },
  { 'q5', 'i', { 'q5', 'value', 'not that folder' } },
  { 'q5', 'd', { 'q5', 'deny' } },
}) do
  local id, keys, want = unpack(one)
  it(('answers %s of %s'):format(keys, questions[id].kind .. ' ' .. id), function()
    local nvim = child.start()
    nvim:answer('.', 'not that folder')
    asks(nvim, id)
    enter(nvim)
    nvim:type(keys)
    expect.equal(answer(nvim), want)
    wait_gone(nvim)
    nvim:wait_note('done')
  end)
end

it('lists its keys, and does nothing at others', function()
  local nvim = child.start()
  asks(nvim, 'q2')
  expect.equal(window(nvim).lines[1], '--- src/a.go')
  enter(nvim)
  local shown = window(nvim)
  expect.equal(vim.list_slice(shown.lines, 1, 4), {
    ' d    Deny',
    ' D    Deny, and say why',
    ' o    Allow Once',
    ' q    later',
  })
  expect.equal({ shown.anchor, shown.lines[#shown.lines] }, { 'NW', '+new' })
  nvim:type('<CR>lyix')
  turn(nvim)
  expect.equal(nvim:lua('return #sent'), 0)
end)

it('shows the whole of a long command', function()
  local nvim = child.start()
  local long = vim.deepcopy(questions.q1)
  long.detail = ('line\n'):rep(500) .. 'the end'
  questions.long = long
  asks(nvim, 'long')
  enter(nvim)
  nvim:type('G')
  nvim:wait([[vim.fn.getline('.') == 'the end' and vim.fn.line('w$') == vim.fn.line('$')]])
end)

it('says a long command once, and how long it is', function()
  local nvim = child.start()
  local long = vim.deepcopy(questions.q1)
  long.detail = 'make check &&\n' .. ('echo one more step &&\n'):rep(40) .. 'true'
  long.title = 'Bash make check && echo one more step && echo…'
  long.text = 'asks: ' .. long.title
  questions.long = long
  asks(nvim, 'long')
  local shown = window(nvim)
  expect.equal(table.concat(shown.lines, '\n'), long.detail)
  expect.equal(shown.footer, ' :Ralph answer goes here · 42 lines ')
end)

it('shows the whole of a long title', function()
  local nvim = child.start()
  local long = vim.deepcopy(questions.q3)
  long.title = ('Deploy '):rep(20)
  long.text = 'asks: ' .. long.title
  questions.long = long
  asks(nvim, 'long')
  expect.equal(window(nvim).lines, { long.title, 'To production.' })
end)

it('closes when no answer is needed any more, and shows the next', function()
  local nvim = child.start()
  asks(nvim, 'q1', 'q3')
  enter(nvim)
  asks(nvim, 'q3')
  nvim:wait([[vim.api.nvim_win_get_config(0).relative == '']])
  expect.equal(window(nvim).lines, { 'To production.' })
  asks(nvim)
  wait_gone(nvim)
  nvim:command('Ralph answer')
  nvim:wait([[sent[1] ]])
end)

it('stands where no output ends', function()
  local nvim = child.start()
  nvim:command('enew')
  nvim:command('setfiletype ralph')
  asks(nvim, 'q1')
  expect.equal(window(nvim).anchor, 'NE')
  nvim:command('topleft vsplit')
  nvim:command('vertical resize 10')
  nvim:command('wincmd l')
  nvim:command('edit a.txt') -- the output is at the left now
  expect.equal(window(nvim).anchor, 'SE')
  nvim:command('wincmd t')
  nvim:command('close')
  nvim:command('topleft new')
  nvim:command('setfiletype ralph')
  nvim:command('resize 3') -- it ends above
  expect.equal(window(nvim).anchor, 'SE')
  nvim:command('wincmd _')
  nvim:wait([[vim.iter(vim.api.nvim_list_wins()):any(function(win)
    return vim.api.nvim_win_get_config(win).anchor == 'NE'
  end)]])
end)

it('stands below the tabs, if they are shown', function()
  local nvim = child.start()
  nvim:command('enew')
  nvim:command('setfiletype ralph')
  asks(nvim, 'q1')
  window(nvim)
  for _, one in ipairs({
    { 'set showtabline=1', 0 },
    { 'set showtabline=2', 1 },
    { 'set showtabline=0', 0 },
    { 'tab split', 0 },
    { 'set showtabline=1', 1 },
    { 'tabclose', 0 },
  }) do
    local command, row = unpack(one)
    nvim:command(command)
    expect.equal(window(nvim).anchor, 'NE')
    nvim:wait(
      [[vim.iter(vim.api.nvim_list_wins()):any(function(win)
        local config = vim.api.nvim_win_get_config(win)
        return config.relative ~= '' and config.row == want
      end)]],
      row
    )
  end
end)

it('comes back when it was left for later', function()
  local nvim = child.start()
  asks(nvim, 'q1')
  for _, keys in ipairs({ 'q', ':q<CR>' }) do
    window(nvim)
    enter(nvim)
    nvim:type(keys)
    wait_gone(nvim)
    asks(nvim, 'q1') -- another status
    turn(nvim)
    wait_gone(nvim)
    nvim:command('Ralph answer')
    nvim:command('wincmd p')
    expect.equal(window(nvim).anchor, 'SE')
  end
  expect.equal(#nvim:lua('return notes'), 1)
end)

it('comes along to another tab page', function()
  local nvim = child.start()
  nvim:command('tabnew')
  asks(nvim, 'q1')
  window(nvim)
  nvim:command('tabprevious')
  enter(nvim)
  nvim:command('tabnext')
  nvim:command('Ralph answer')
  nvim:wait([[vim.api.nvim_win_get_config(0).relative ~= '']])
  nvim:command('tabclose')
  asks(nvim, 'q1')
  nvim:command('Ralph answer')
  nvim:wait([[vim.api.nvim_win_get_config(0).relative ~= '']])
end)

it('takes an answer on the command line', function()
  local nvim = child.start()
  asks(nvim, 'q1')
  window(nvim)
  expect.equal(
    nvim:lua([[return vim.fn.getcompletion('Ralph answer ', 'cmdline')]]),
    { 'deny', 'once', 'loop' }
  )
  nvim:command('Ralph answer deny not that folder')
  expect.equal(answer(nvim), { 'q1', 'deny', 'not that folder' })
  asks(nvim, 'q4')
  window(nvim)
  nvim:command('Ralph answer production')
  expect.equal(answer(nvim), { 'q4', 'value', 'production' })
end)

it('takes back what is allowed', function()
  local nvim = child.start()
  asks(nvim)
  nvim:command('edit ralph-loops://all')
  nvim:lua('sent = {}')
  nvim:type('A')
  nvim:wait_note('nothing is allowed for all of ')
  local offer = {
    title = 'Take Back',
    command = 'ralph.loop.update',
    arguments = { { loopId = 'ralph-1', folder = 'file:///w/app', disallow = { 'Bash(ls:*)' } } },
  }
  nvim:lua(
    [[require('ralph.status').get().loops[1].allowed = ...]],
    { { rule = 'Bash(ls:*)', text = 'Bash(ls:*)', offers = { offer } } }
  )
  nvim:answer('What the agent of app may do', 'Take Back: Bash(ls:*)')
  nvim:type('A')
  local sent = nvim:wait('sent[1]')
  expect.equal({ sent.command, sent.argument.disallow }, { offer.command, { 'Bash(ls:*)' } })
end)
