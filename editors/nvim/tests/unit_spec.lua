local expect = require('expect')
local it = _G.it

local Transcript = require('ralph.transcript')
local wire = require('ralph.wire')

--- The lines of a transcript.
local function lines(transcript)
  return transcript:slice(transcript.first, transcript.last)
end

local function new(max_lines)
  return Transcript.new({ max_lines = max_lines or 1000, tool_lines = 2 })
end

local function message(text, id, kind)
  return {
    sessionUpdate = kind or 'agent_message_chunk',
    messageId = id or 'm1',
    content = { text = text },
  }
end

it('joins the pieces of a message', function()
  local transcript = new()
  for _, piece in ipairs({ 'one ', 'line\nand', ' two\r\n' }) do
    transcript:add(message(piece))
  end
  transcript:add(message('another', 'm2'))
  transcript:add(message('a\nb', 'm2', 'agent_thought_chunk'))
  expect.equal(lines(transcript), { 'one line', 'and two', '', 'another', '', '┊ a', '┊ b' })
end)

it('says once who is at work', function()
  local transcript = new()
  local function session(model)
    transcript:add({
      sessionUpdate = '_ralph/session',
      model = model,
      text = model and 'pi · ' .. model,
    })
  end
  session(nil)
  session('one')
  transcript:add(message('text'))
  session(nil)
  session('one')
  session('two')
  expect.equal(lines(transcript), { '» pi · one', '', 'text', '', '» pi · two' })
end)

it('shows tools that run side by side', function()
  local transcript = new()
  local function call(id, title)
    transcript:add({
      sessionUpdate = 'tool_call',
      toolCallId = id,
      name = 'bash',
      title = title,
      kind = 'execute',
    })
  end
  local function finish(id, status, text)
    transcript:add({
      sessionUpdate = 'tool_call_update',
      toolCallId = id,
      status = status,
      content = { { type = 'content', content = { type = 'text', text = text } } },
    })
  end
  call('a', '100% %s')
  call('b', 'false')
  expect.equal(lines(transcript), { '● bash  100% %s', '● bash  false' })
  finish('a', 'in_progress', 'half')
  finish('a', 'completed', '1\n2\n3\n')
  finish('b', 'failed', '')
  finish('nobody', 'failed', 'x')
  expect.equal(lines(transcript), {
    '✓ bash  100% %s',
    '✗ bash  false',
    '✓ bash  100% %s',
    '  │ … 1 line',
    '  │ 2',
    '  │ 3',
    '✗ bash  false',
  })
  expect.equal(vim.tbl_count(transcript.changed), 2)
end)

--- A transcript, and what makes it: calls of agents and tools, their ends, and what they say.
local function of_agents()
  local transcript = new()
  local function call(id, title, parent, agent)
    transcript:add({
      sessionUpdate = 'tool_call',
      toolCallId = id,
      parentToolCallId = parent,
      name = agent and 'step' or 'bash',
      title = title,
      kind = 'think',
      subagent = agent and { agent = agent } or nil,
    })
  end
  local function finish(id, facts, parent, status)
    transcript:add({
      sessionUpdate = 'tool_call_update',
      toolCallId = id,
      parentToolCallId = parent,
      status = status or 'completed',
      facts = facts,
      content = { { type = 'content', content = { type = 'text', text = 'last words' } } },
    })
  end
  local function say(text, parent, id)
    local update = message(text, id or parent)
    update.parentToolCallId = parent
    transcript:add(update)
  end
  return transcript, call, finish, say
end

it('shows what an agent does below it, to be folded at its end', function()
  local transcript, call, finish, say = of_agents()
  call('a', 'scout 1/2: Find 100%', nil, 'scout')
  say('I lo', 'a')
  say('ok\nhere', 'a')
  call('t', 'ls', 'a')
  finish('t', nil, 'a')
  finish('a', '12s · $0.0042')
  expect.equal(lines(transcript), {
    '✓ scout 1/2: Find 100% · 12s · $0.0042',
    '',
    '  I look',
    '  here',
    '',
    '  ✓ bash  ls',
    '  │ last words',
  })
  expect.equal(transcript.agents, { { first = 1, last = 7 } })
  call('b', 'scout: silent', nil, 'scout')
  finish('b')
  expect.equal(lines(transcript)[9], '  │ last words')
end)

it('does not mix agents that work at once', function()
  local transcript, call, finish, say = of_agents()
  call('a', 'scout: one', nil, 'scout')
  call('b', 'scout: two', nil, 'scout')
  say('I lo', 'a')
  say('Tes', 'b')
  say('ok\nand', 'a')
  say('ts?', 'b')
  call('t', 'ls', 'b')
  say('more', 'b', 'another')
  finish('b', nil, nil, 'failed')
  say(' see', 'a')
  finish('a', '2s')
  expect.equal(lines(transcript), {
    '✓ scout: one · 2s',
    '✗ scout: two',
    '  scout: I look',
    '  scout #2: Tests?',
    '  scout #2: ● bash  ls',
    '  scout #2: more',
    '✗ scout: two',
    '  │ last words',
    '',
    '  and see',
    '✓ scout: one · 2s',
  })
  expect.equal(transcript.agents, {})
end)

it('keeps iterations apart, whose ids begin again', function()
  local transcript = new()
  local function iteration(n)
    transcript:add({ sessionUpdate = '_ralph/iteration', phase = 'begin', text = 'iteration ' .. n })
  end
  local function call(kind, more)
    transcript:add(vim.tbl_extend('error', { sessionUpdate = kind, toolCallId = 'a' }, more))
  end
  iteration(1)
  transcript:add(message('one'))
  call('tool_call', { name = 'bash', title = 'first', kind = 'execute' })
  iteration(2)
  transcript:add(message('two'))
  call('tool_call_update', { status = 'completed' }) -- of a call that was not heard
  expect.equal(
    lines(transcript),
    { '▌ iteration 1', '', 'one', '', '● bash  first', '', '▌ iteration 2', '', 'two' }
  )
end)

it('names the hat of an iteration once in its heading', function()
  local transcript = new()
  local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p'))
  local rare = vim.fn.readfile(here .. '/../../../testdata/wire/rare.json')
  local words = vim.json.decode(table.concat(rare, '\n'))
  transcript:add(words[1])
  transcript:add(words[2])
  expect.equal(lines(transcript), {
    '▌ iteration 3 of 50 · builder, called by plan.ready from planner · ok · $0.31 · 1m00s',
  })
end)

it("says how much of a tool's output isn't shown", function()
  local function shown(text, omitted)
    local transcript = new()
    transcript:add({ sessionUpdate = 'tool_call', toolCallId = 'a', name = 'read', title = 'x' })
    transcript:add({
      sessionUpdate = 'tool_call_update',
      toolCallId = 'a',
      status = 'completed',
      omitted = omitted,
      content = { { type = 'content', content = { type = 'text', text = text } } },
    })
    return vim.list_slice(lines(transcript), 2)
  end
  expect.equal(shown('1\n2'), { '  │ 1', '  │ 2' })
  expect.equal(shown('1\n2\n3'), { '  │ … 1 line', '  │ 2', '  │ 3' })
  local omitted = { lines = 49871, bytes = 1 }
  expect.equal(
    shown('1\n… 49,871 lines left out …\n49873\n49874\n49875', omitted),
    { '  │ … 49,873 lines', '  │ 49874', '  │ 49875' }
  )
  expect.equal(
    shown('1\n2\n… 49,871 lines left out …\n49874', omitted),
    { '  │ … 2 lines', '  │ … 49,871 lines left out …', '  │ 49874' }
  )
end)

it("keeps the indentation of a tool's output", function()
  local transcript = new()
  transcript:add({ sessionUpdate = 'tool_call', toolCallId = 'a', name = 'read', title = 'x' })
  transcript:add({
    sessionUpdate = 'tool_call_update',
    toolCallId = 'a',
    status = 'completed',
    content = { { type = 'content', content = { type = 'text', text = '\n  one\n    two\n\n' } } },
  })
  expect.equal(lines(transcript), { '✓ read  x', '  │   one', '  │     two' })
end)

it('forgets the oldest lines', function()
  local transcript = new(100)
  for n = 1, 250 do
    transcript:add(message('line ' .. n .. '\n'))
    assert(#lines(transcript) <= 100, #lines(transcript))
  end
  local kept = lines(transcript)
  expect.matches(kept[1], 'older lines are in the session file')
  expect.equal(kept[#kept - 1], 'line 250')
end)

it('shows what an agent was told as one', function()
  local transcript = new()
  for _, text in ipairs({ 'Mind ', 'the tests' }) do
    transcript:add({
      sessionUpdate = wire.updates.user,
      messageId = 'a',
      content = { text = text },
    })
  end
  expect.contains(table.concat(lines(transcript), '\n'), '› Mind the tests')
end)

it('checks the settings', function()
  local config = require('ralph.config')
  local function problems(value)
    vim.g.ralph = value
    local settings, found = config.read()
    vim.g.ralph = nil
    return found, settings
  end
  expect.equal(problems(nil), {})
  expect.equal(problems({ notify = 'never', output = { max_lines = 500 } }), {})
  expect.equal(problems({ permissions = 'ask' }), {})
  expect.equal(problems({ on_close = 'keep' }), {})
  expect.equal(problems({ permissions = 'agent', on_close = 'stay' }), {
    'on_close must be "keep", "end" or "", not "stay"',
    'permissions must be "ask" or "", not "agent"',
  })
  expect.equal(problems({ fleet = { bus = 'tls://bus:4222,tls://other:4222' } }), {})
  for _, bad in ipairs({ 'host:4222', 'nats://user:secret@host', 'nats://', 3 }) do
    expect.matches(problems({ fleet = { bus = bad } })[1], 'fleet.bus must be the URL of a bus')
  end
  expect.equal(problems({ notfy = 'never' }), { 'unknown key notfy, did you mean notify?' })
  local found, settings =
    problems({ notify = 'loud', output = { max_lines = 'many', splitt = 'x' } })
  expect.equal(#found, 3)
  expect.equal({ settings.notify, settings.output.max_lines }, { 'always', 20000 })
  local by_function = select(
    2,
    problems(function()
      return { notify = 'unfocused' }
    end)
  )
  expect.equal(by_function.notify, 'unfocused')
  expect.matches(problems('never')[1], 'must be a table')
end)

it('finds a program that a build step has installed, or mason', function()
  local plugin, path, data = vim.fn.tempname(), vim.env.PATH, vim.env.XDG_DATA_HOME
  vim.fn.mkdir(plugin .. '/lua/ralph', 'p')
  local copy = plugin .. '/lua/ralph/binary.lua'
  vim.uv.fs_copyfile(vim.api.nvim_get_runtime_file('lua/ralph/binary.lua', false)[1], copy)
  vim.env.PATH, vim.env.XDG_DATA_HOME = '/nowhere', plugin .. '/data'
  local function found()
    local sidecar, problem = dofile(copy).sidecar()
    return sidecar and sidecar.cmd[1] or problem
  end
  local places = {
    vim.fn.stdpath('data') .. '/mason/bin/ralph-lsp',
    plugin .. '/node_modules/@ralph-lsp/linux-x64/bin/ralph-lsp',
  }
  local ok, why = pcall(function()
    assert(found():find('ralph-lsp was not found: install it with "npm install', 1, true), found())
    for _, place in ipairs(places) do
      vim.fn.mkdir(vim.fs.dirname(place), 'p')
      vim.fn.writefile({}, place)
      vim.fn.setfperm(place, 'rwxr-xr-x')
      expect.equal(found(), place)
    end
  end)
  vim.env.PATH, vim.env.XDG_DATA_HOME = path, data
  vim.fn.delete(plugin, 'rf')
  assert(ok, why)
end)

it('finds no program by a relative entry of PATH: an agent may have written it', function()
  local folder, tools, path = vim.fn.tempname(), vim.fn.tempname(), vim.env.PATH
  for _, dir in ipairs({ folder, tools }) do
    vim.fn.mkdir(dir, 'p')
    vim.fn.writefile({}, dir .. '/ralph-lsp')
    vim.fn.setfperm(dir .. '/ralph-lsp', 'rwxr-xr-x')
  end
  local before = vim.fn.chdir(folder)
  vim.env.PATH = '.:' .. tools
  local ok, why = pcall(function()
    expect.equal(
      dofile(vim.api.nvim_get_runtime_file('lua/ralph/binary.lua', false)[1]).sidecar().cmd[1],
      tools .. '/ralph-lsp'
    )
  end)
  vim.env.PATH = path
  vim.fn.chdir(before)
  vim.fn.delete(folder, 'rf')
  vim.fn.delete(tools, 'rf')
  assert(ok, why)
end)

it('reads what was asked for while a page was handled: its end may have come meanwhile', function()
  local client = require('ralph.client')
  local execute, asked, taken, told = client.execute, {}, {}, 0
  client.execute = function(_, _, argument, callback)
    table.insert(asked, { after = argument.after, answer = callback })
  end
  local reader = require('ralph.reader').new('/x', function(page)
    table.insert(taken, page)
  end)
  local function tell()
    told = told + 1
  end
  reader:read({}, tell)
  asked[1].answer(nil, { updates = { 'begun' }, cursor = '1' })
  reader:read({}, tell)
  taken[1].done()
  expect.equal({ #asked, asked[#asked].after, told }, { 2, '1', 0 })
  asked[2].answer(nil, { updates = { 'over' }, cursor = '2' })
  taken[2].done()
  client.execute = execute
  expect.equal({ #asked, taken[2].updates[1], told }, { 2, 'over', 2 })
end)
