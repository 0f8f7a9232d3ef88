-- What the sidecar says in testdata/wire is shown as it is. A name that is
-- missing somewhere is told.
local child = require('child')
local expect = require('expect')
local it = _G.it

local ask = require('ralph.ask')
local format = require('ralph.format')
local show = require('ralph.show')
local overview = require('ralph.overview')
local status = require('ralph.status')
local Transcript = require('ralph.transcript')
local wire = require('ralph.wire')

local root = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h'))
  .. '/../..'

local function read(file)
  return vim.json.decode(child.read(root .. '/' .. file), { luanil = { object = true } })
end

--- Calls check with each of a list; what it calls forgot with is told at the end.
local function walk(list, least, check)
  assert(#list >= least, 'only ' .. #list)
  local forgotten = {}
  for _, one in ipairs(list) do
    check(one, function(is_there, what)
      if not is_there then
        table.insert(forgotten, what)
      end
    end)
  end
  expect.equal(forgotten, {})
end

--- The line of a loop in the status line of its folder.
local function line_of(loop)
  local here = vim.uri_from_fname(vim.fn.getcwd())
  status.set({ message = '', loops = { vim.tbl_extend('force', loop, { folder = here }) } })
  local line = status.statusline()
  status.clear()
  return line
end

--- What a function that asks the user to choose shows: the question, and the labels.
local function asked(open)
  local select, prompt, labels = vim.ui.select, '', {}
  vim.ui.select = function(items, options) -- luacheck: ignore 122
    prompt, labels = options.prompt, vim.tbl_map(options.format_item, items)
  end
  open()
  vim.ui.select = select -- luacheck: ignore 122
  return prompt, labels
end

local function has(text, part)
  return part ~= nil and part ~= '' and text:find(part, 1, true) ~= nil
end

it('uses only names that the sidecar knows', function()
  local names = read('testdata/wire/names.json')
  expect.equal(wire.version, names.version)
  for _, kind in ipairs({ 'commands', 'reasons', 'updates' }) do
    walk(vim.tbl_values(wire[kind]), 1, function(name, want)
      want(vim.list_contains(names[kind], name), 'the sidecar has no ' .. name)
    end)
  end
end)

it('shows every update', function()
  local silent = { [wire.updates.usage] = true } -- the status says it
  walk(vim.fn.glob(root .. '/testdata/wire/update-*.json', false, true), 20, function(file, want)
    local update = vim.json.decode(child.read(file), { luanil = { object = true } })
    local transcript = Transcript.new({ max_lines = 1000, tool_lines = 20 })
    transcript:add({ sessionUpdate = wire.updates.iteration, phase = 'begin', text = 'iteration 3' })
    transcript:add({
      sessionUpdate = wire.updates.tool_call,
      toolCallId = 't1',
      name = 'n',
      title = 't',
    })
    transcript:add(update)
    local lines = table.concat(transcript:slice(transcript.first, transcript.last), '\n')
    local content = update.content
      and (update.content[1] and update.content[1].content or update.content)
    local text = update.text or update.title or content and content.text
    local is_shown = silent[update.sessionUpdate] or has(lines, text)
    want(is_shown, 'the output does not show ' .. update.sessionUpdate)
  end)
end)

--- What the user is told while act runs, when the feed has handled what it got,
--- and by what that has scheduled.
local function told_by(act)
  local notify, told = vim.notify, {}
  vim.notify = function(text) -- luacheck: ignore 122
    table.insert(told, text)
  end
  act()
  local turns = 0
  local function turn() -- what is scheduled behind it schedules more
    turns = turns + 1
    vim.schedule(turns < 5 and turn or function() end)
  end
  require('ralph.feed').enqueue({ updates = {}, done = turn }) -- the feed works in slices
  vim.wait(child.patience, function()
    return turns == 5
  end, 1)
  vim.notify = notify -- luacheck: ignore 122
  return table.concat(told, '\n')
end

--- The messages that an update of a loop that runs here makes.
local function told_of(update)
  local feed, client = require('ralph.feed'), require('ralph.client')
  local execute = client.execute
  client.execute = function(_, _, _, callback)
    callback(nil, { loopId = 'ralph-1', updates = { update }, cursor = 'c' })
  end
  local loop = { loopId = 'ralph-1', folder = 'file:///w', owned = true, live = true }
  local told
  asked(function()
    told = told_by(function()
      feed.status({ message = '', loops = { loop } })
      feed.update({ loopId = loop.loopId })
    end)
  end)
  client.execute = execute
  status.clear()
  return told
end

it('takes what is read of a loop before the first status tells of that', function()
  local feed, client = require('ralph.feed'), require('ralph.client')
  local execute, reads = client.execute, 0
  client.execute = function(_, _, argument, callback)
    reads = reads + 1
    local update =
      { sessionUpdate = 'agent_message_chunk', content = { type = 'text', text = 'x' } }
    local id = argument.folder == 'file:///has/id' and 'ralph-1' or nil
    callback(nil, { loopId = id, updates = { update }, cursor = tostring(reads) })
  end
  local told = told_by(function()
    for _, folder in ipairs({ '/has/id', '/has/none' }) do
      feed.read(folder, function() -- all from before, then news
        feed.read(folder, function() end)
      end)
    end
  end)
  client.execute = execute
  expect.equal({ reads, told }, { 4, '' })
end)

it('tells wherever the user looks what is to be told so, and nothing else', function()
  vim.g.ralph = { notify = 'always' }
  walk(vim.fn.glob(root .. '/testdata/wire/update-*.json', false, true), 20, function(file, want)
    local update = vim.json.decode(child.read(file), { luanil = { object = true } })
    local told = told_of(update)
    local as_said = update.notify and has(told, update.text:sub(1, 20))
      or not update.notify and told == ''
    want(as_said, update.sessionUpdate .. ' is told as: ' .. told)
  end)
  vim.g.ralph = nil
end)

it('shows every state', function()
  walk(read('testdata/wire/states.json').loops, 8, function(loop, want)
    local line = line_of(loop)
    want(has(line, loop.line), 'the status line has forgotten the state ' .. loop.state)
    want(loop.title ~= '' and loop.class, 'there is no title or class of the state ' .. loop.state)
    local lines = overview.render({ loop }, 200, { [loop.folder] = true })
    local first = table.remove(lines, 1).text
    want(has(first, loop.title) and has(first, loop.line), ':Ralph has forgotten ' .. loop.state)
    for _, row in ipairs(loop.details or {}) do
      want(
        vim.iter(lines):any(function(one)
          return has(one.text, row.label) and has(one.text, row.text)
        end),
        ':Ralph has forgotten ' .. row.label
      )
    end
  end)
end)

it('shows the receipt of an end below it', function()
  local transcript = Transcript.new({ max_lines = 1000, tool_lines = 20 })
  transcript:add(read('testdata/wire/update-ralph-end.json'))
  local lines = transcript:slice(1, transcript.last)
  expect.equal(lines[2], '  Asked      Mend the parser.')
  expect.equal(lines[4], '  Commits    1a2b3c4d5 Mend the parser')
end)

it('shows every ending, and what can be done about it', function()
  local commands = read('testdata/wire/names.json').commands
  walk(read('testdata/wire/endings.json'), 12, function(ending, want)
    local function shows(is_shown, where)
      want(is_shown, where .. ' has forgotten the ending ' .. ending.stopReason)
    end
    local transcript = Transcript.new({ max_lines = 1000, tool_lines = 20 })
    transcript:add(ending['end'])
    shows(transcript:slice(1, 1)[1] == '■ ' .. ending['end'].text, 'the output')
    shows(line_of(ending.status) == 'Ralph ' .. ending.status.line, 'the status line')
    local _, past = asked(function()
      show.history({ ending.past })
    end)
    shows(has(past[1], ending.past.text), 'the history')
    if ending.status.offers then
      status.set({ message = '', loops = { ending.status } })
      ask.about(ending.status)
      local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
      status.clear()
      require('ralph.question').look()
      shows(has(table.concat(lines, '\n'), ending.status.text), 'the question')
      for index, offer in ipairs(ending.status.offers) do
        shows(lines[index] == (' %-4d %s'):format(index, offer.title), 'the choice')
        shows(vim.list_contains(commands, offer.command), offer.command)
      end
    end
  end)
end)

it('has each limit in its help', function()
  local doc = child.read(root .. '/editors/nvim/doc/ralph.txt')
  walk(read('testdata/wire/limits.json'), 5, function(limit, want)
    local option = limit.wire:gsub('%u', function(letter)
      return '_' .. letter:lower()
    end)
    want(has(doc, '--' .. limit.flag .. '='), 'doc/ralph.txt has no --' .. limit.flag)
    want(has(doc, '`' .. option .. '`'), 'doc/ralph.txt has no ' .. option)
  end)
end)

it('writes a time as the sidecar does', function()
  walk(read('testdata/wire/words.json').durations, 8, function(word, want)
    local is_full = word.value % 1000 == 0 or word.value >= 10000 -- a clock has no tenths
    local text = format.elapsed(word.value / 1000)
    want(not is_full or text == word.text, text .. ' is not ' .. word.text)
  end)
end)

it('reads the times of the sidecar, in any zone', function()
  local zone = vim.env.TZ
  for _, name in ipairs({ 'UTC', 'Europe/Berlin', 'America/St_Johns' }) do
    vim.env.TZ = name
    expect.equal(format.epoch('1970-01-01T00:00:00Z'), 0)
    expect.equal(format.epoch('2024-02-29T10:00:00.123456789Z'), 1709200800)
    expect.equal(format.epoch('2026-07-20T14:54:49Z'), 1784559289)
  end
  vim.env.TZ = zone
  expect.equal(format.epoch(nil), nil)
end)

it('writes a loop in a line', function()
  local loop =
    { live = true, line = '3/50 · $1.42 · bash go test ./a/very/long/path/of/a/package' }
  loop.state, loop.time = 'running', { spentMs = 200000 }
  loop.iterationStartedAt = os.date('!%Y-%m-%dT%H:%M:%SZ', os.time() - 52)
  expect.matches(
    line_of(loop),
    '^Ralph 3/50 · $1.42 · bash go test ./a/very/long/path/… · 4m1[23]s$'
  )
  loop.state, loop.line = 'paused', 'paused at 3/50' -- nothing runs: the time stands still
  loop.startedAt = os.date('!%Y-%m-%dT%H:%M:%SZ', os.time() - 9000)
  expect.equal(line_of(loop), 'Ralph paused at 3/50 · 3m20s')
  local function message(count)
    local loops = {}
    for index = 1, count do
      table.insert(loops, { live = true, line = 'a line', folder = 'file:///w/' .. index })
    end
    status.set({ message = 'Ralph 2 loops · $3.00', loops = loops })
    return status.statusline()
  end
  expect.equal(
    { message(0), message(1), message(2) },
    { '', 'Ralph a line', 'Ralph 2 loops · $3.00' }
  )
  status.clear()
end)
