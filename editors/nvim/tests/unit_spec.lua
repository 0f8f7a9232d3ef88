local child = require('child')
local expect = require('expect')
local it = _G.it

local format = require('ralph.format')
local limits = require('ralph.limits')
local Transcript = require('ralph.transcript')
local wire = require('ralph.wire')

local root = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h'))
  .. '/../..'

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

it('knows the names that the sidecar uses', function()
  local names = vim.json.decode(child.read(root .. '/testdata/wire/names.json'))
  local function sorted(values_of)
    local values = vim.tbl_values(values_of)
    table.sort(values)
    return values
  end
  expect.equal(wire.version, names.version)
  expect.equal(sorted(wire.commands), names.commands)
  expect.equal(sorted(wire.reasons), names.reasons)
  expect.equal(sorted(wire.updates), names.updates)
end)

it('knows every state that a loop may be in', function()
  local answer = vim.json.decode(
    child.read(root .. '/testdata/wire/states.json'),
    { luanil = { object = true } }
  )
  assert(#answer.loops >= 8, 'no states in testdata/wire/states.json')
  local forgot, known = {}, {}
  for _, loop in ipairs(answer.loops) do
    local function check(is_known, where)
      if not is_known then
        table.insert(forgot, ('%s has forgotten the state %s'):format(where, loop.state))
      end
    end
    known[loop.state] = true
    check(wire.states[loop.state], 'wire.states')
    check(wire.word(loop) or loop.state == 'running', 'wire.word')
    local is_over = loop.state == 'ended' or wire.is_left(loop)
    check(wire.is_live(loop) ~= is_over, 'wire.is_live or wire.is_left')
    local word = loop.state == 'ended' and 'stopped' or wire.word(loop) or '3/50'
    check(format.loop(loop, os.time(), 30):find(word, 1, true), 'format.loop')
  end
  expect.equal(forgot, {})
  for state in pairs(wire.states) do
    assert(known[state], state .. ' is no state')
  end
end)

it("reads the project's messages", function()
  local files = vim.fn.glob(root .. '/testdata/wire/update-*.json', false, true)
  assert(#files >= 10, 'no messages in testdata/wire')
  local transcript = new()
  for _, file in ipairs(files) do
    local update = vim.json.decode(child.read(file), { luanil = { object = true } })
    assert(vim.list_contains(vim.tbl_values(wire.updates), update.sessionUpdate), file)
    transcript:add(update)
  end
  local text = table.concat(lines(transcript), '\n')
  for _, part in ipairs({
    'Hello',
    'go test',
    '429 rate limited',
    '■ done: DONE after 7 iterations, $3.10',
  }) do
    expect.contains(text, part)
  end
  local status = vim.json.decode(
    child.read(root .. '/testdata/wire/status.json'),
    { luanil = { object = true } }
  )
  local params = status.params or status
  expect.matches(format.loop(params.loops[1], os.time(), 30), '^3/50 %$1%.42 ')
end)

it('writes a loop in a line', function()
  local now = format.epoch('2026-01-02T17:35:07Z') + 252
  local function line(changes)
    local loop = vim.tbl_extend('force', {
      state = 'running',
      iteration = 3,
      maxIterations = 50,
      startedAt = '2026-01-02T17:35:07Z',
      cost = { amount = 1.42, currency = 'USD', estimated = false },
      tool = { name = 'bash', title = 'go test' },
      owned = true,
    }, changes)
    return format.loop(loop, now, 20)
  end
  expect.equal(line({}), '3/50 $1.42 bash go test 4m12s')
  expect.equal(
    line({ tool = { name = 'bash', title = 'go test ./a/very/long/path' } }),
    '3/50 $1.42 bash go test ./a/ve… 4m12s'
  )
  expect.equal(line({ state = 'paused' }), '3/50 $1.42 paused 4m12s')
  expect.equal(
    line({ maxIterations = 0, owned = false }),
    '3 $1.42 bash go test 4m12s (another editor)'
  )
  expect.equal(
    line({ cost = { amount = 1.42, estimated = true } }),
    '3/50 ≥$1.42 bash go test 4m12s'
  )
  local waits = vim.json.decode(child.read(root .. '/testdata/wire/waits.json'))
  assert(#waits >= 4, 'no reasons to wait')
  for _, retry in ipairs(waits) do
    local why = 'waiting (' .. retry.text .. ') until '
    expect.contains(line({ state = 'waiting', retry = retry }), why)
  end
  expect.equal(line({ state = 'waiting', retry = {} }), '3/50 $1.42 waiting 4m12s')
  expect.equal(line({ state = 'ended', stopReason = 'promise' }), 'done $1.42')
  expect.equal(line({ state = 'interrupted' }), 'interrupted at 3/50')
  expect.equal(line({ state = 'failed', text = 'failed at 3/50: so' }), 'failed at 3/50: so')
  expect.equal(format.loop({ state = 'running', owned = true, iteration = 1 }, now, 20), '1')
end)

it('reads times and writes durations', function()
  expect.equal(format.epoch('1970-01-01T00:00:00Z'), 0)
  expect.equal(format.epoch('2024-02-29T12:00:00.123456789+02:00'), 1709200800)
  expect.equal(format.epoch('2026-11-20T13:24:49-01:30'), 1795186489)
  expect.equal(format.epoch(nil), nil)
  expect.equal(
    vim.tbl_map(format.duration, { 0, 59.9, 60, 3599, 3720 }),
    { '0s', '59s', '1m00s', '59m59s', '1h02m' }
  )
end)

it('reads limits', function()
  local function parse(text)
    local parsed, problem = limits.parse(text)
    return parsed or problem
  end
  expect.equal(parse('--max-iterations=80 --max-time 1h30m --max-cost $2.5'), {
    maxIterations = 80,
    maxDurationMs = 5400000,
    maxCostUsd = 2.5,
  })
  expect.equal(parse('--max-time=0'), { maxDurationMs = 0 })
  for _, text in ipairs({ [["b c's"]], [[b\ c\'s]], [['b c'\'s]] }) do
    expect.equal(parse('--completion-promise=' .. text), { completionPromise = "b c's" })
  end
  expect.equal(parse(''), {})
  expect.matches(parse('--max-time=5x'), 'must be a duration')
  local durations = { ['8h'] = 28800000, ['90m'] = 5400000, ['61s'] = 61000, ['1500ms'] = 1500 }
  for text, milliseconds in pairs(durations) do
    expect.equal(limits.milliseconds(text), milliseconds)
    expect.equal(limits.duration(milliseconds), text)
  end
  expect.matches(parse('--max-iterations'), 'must be a whole number')
  expect.matches(parse('--model=x'), '^%-%-model is no limit')
end)

it('offers a limit that a loop can go on with', function()
  local ask = require('ralph.ask')
  local function cost(limit, amount)
    return ask.offer({ cost = { limit = limit, amount = amount } }, 'max_cost')
  end
  expect.equal(cost(0.05, 0.21), '0.40')
  expect.equal(cost(2, 2), '4.00')
  expect.equal(cost(0.001, 0.001), '0.002')
  expect.equal(cost(0.000001, 0), '0.000002')
  expect.equal(cost(nil, 0.3), '0.60')
  expect.equal(ask.offer({}, 'max_cost'), '2.00')
  expect.equal(ask.offer({ maxIterations = 1, iteration = 4 }, 'max_iterations'), '8')
  expect.equal(ask.offer({ maxIterations = 0, iteration = 1 }, 'max_iterations'), '2')
  expect.equal(ask.offer({ time = { limitMs = 1000, spentMs = 5000 } }, 'max_time'), '8s')
  expect.equal(ask.offer({ time = { limitMs = 0, spentMs = 0 } }, 'max_time'), '1h')
end)

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
      backend = 'pi',
      provider = 'p',
      model = model,
    })
  end
  session(nil)
  session('one')
  transcript:add(message('text'))
  session(nil)
  session('one')
  session('two')
  expect.equal(lines(transcript), { '» pi p/one', '', 'text', '', '» pi p/two' })
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
    '  │ … 1 lines',
    '  │ 2',
    '  │ 3',
    '✗ bash  false',
  })
  expect.equal(vim.tbl_count(transcript.changed), 2)
end)

it('keeps iterations apart, whose ids begin again', function()
  local transcript = new()
  local function iteration(n)
    transcript:add({ sessionUpdate = '_ralph/iteration', phase = 'begin', iteration = n })
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

it('names the author of what an agent was told', function()
  local transcript = new()
  for _, text in ipairs({ 'Mind ', 'the tests' }) do
    transcript:add({
      sessionUpdate = wire.updates.user,
      messageId = 'a',
      fromAgentId = 'lead',
      content = { text = text },
    })
  end
  expect.contains(table.concat(lines(transcript), '\n'), '› lead: Mind the tests')
end)

it('shows every update that the wire has', function()
  local transcript = new()
  for name, kind in pairs(wire.updates) do
    local ok, problem = pcall(transcript.add, transcript, {
      sessionUpdate = kind,
      content = kind:find('chunk') and { text = 'x' } or nil,
      name = 'n',
      title = 't',
      toolCallId = 'i',
      status = 'completed',
      phase = 'end',
      iteration = 1,
      found = 'x',
      matched = false,
      message = 'm',
      state = 's',
      attempt = 1,
      topic = 't',
      payload = 'p',
      stopReason = 'promise',
    })
    assert(ok, name .. ': ' .. tostring(problem))
  end
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
