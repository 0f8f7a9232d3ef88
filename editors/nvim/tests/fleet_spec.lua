-- Loops of other machines. RALPH_FLEET_BIN is ralph-fleet.
local child = require('child')
local expect = require('expect')
local it = _G.it

--- Lets the sidecar say that a fleet has loops, one of each table. What the child sends is kept.
local function says(nvim, ...)
  nvim:lua(
    [[
      _G.sent = {}
      require('ralph.client').execute = function(_, command, argument, callback)
        table.insert(sent, { command = command, argument = argument })
        callback(nil, { text = 'done', updates = {}, cursor = '1' })
      end
      local defaults = { class = 'info', live = true, busy = true, owned = false, state = 'running' }
      local loops = vim.tbl_map(function(loop)
        loop = vim.tbl_extend('keep', loop, defaults)
        loop.folder = loop.folder or 'file:///seen/' .. loop.loopId
        loop.name = ('Ralph "%s"'):format(loop.title)
        loop.line = loop.line or loop.text
        return loop
      end, { ... })
      require('ralph.feed').status({ message = '', loops = loops, text = '7 more are not listed' })
    ]],
    ...
  )
end

local crater = { loopId = 'f1', title = 'crater', host = 'box-1', text = '1/9 · $0.10' }

it('shows loops of other machines below where they come from, with their host', function()
  local nvim = child.start()
  local app = { loopId = 'r1', title = 'app', folder = 'file:///w/app', text = '3/50' }
  local dust = { loopId = 'f2', title = 'dust', host = 'fleet', text = 'waits for a worker' }
  local from = vim.tbl_extend('error', crater, { origin = 'file:///w/app' })
  says(nvim, dust, from, app)
  nvim:command('Ralph')
  nvim:wait([[vim.api.nvim_buf_line_count(0) == 4]])
  local lines = nvim:lua('return vim.api.nvim_buf_get_lines(0, 0, -1, false)')
  expect.matches(lines[1], '^▸ dust +waits for a worker +fleet$')
  expect.matches(lines[2], '^▸ app +3/50 +/w/app$')
  expect.matches(lines[3], '^▸ crater +1/9 · %$0.10 +box%-1$')
  expect.equal(lines[4], '7 more are not listed')
  nvim:lua([[
    local now = require('ralph').status()
    now.text = 'the bus is away'
    require('ralph.feed').status(now)
  ]])
  nvim:wait([[vim.fn.getline(4) == 'the bus is away']])
  nvim:lua([[vim.fn.search('crater', 'w')]])
  nvim:type('<Tab>')
  nvim:wait([[vim.fn.search('^    Host  box-1', 'nw') > 0]])
end)

it('opens no file of this machine for a loop of another', function()
  local nvim = child.start()
  child.write(nvim.dir .. '/here.txt', 'mine\n')
  says(nvim, crater)
  nvim:lua([[require('ralph.output').open('/seen/f1')]])
  nvim:lua(
    [[require('ralph.feed').enqueue({ updates = {
      { sessionUpdate = 'tool_call', toolCallId = 't', name = 'read', title = ... },
    }, handle = function(update) require('ralph.output').update({ folder = '/seen/f1' }, update) end })]],
    nvim.dir .. '/here.txt'
  )
  nvim:wait([[vim.fn.search('here.txt', 'w') > 0]])
  nvim:type('gf')
  nvim:wait_note('its files are on box%-1; at its end r offers to fetch them')
  nvim:type('C')
  nvim:wait([[vim.iter(sent):any(function(one)
    return one.command == 'ralph.loop.changes' and one.argument.show
  end)]])
  expect.equal(nvim:lua([[return vim.bo.filetype]]), 'ralph')
end)

it('tells of the end of a loop that comes from here, and asks nothing', function()
  local nvim = child.start()
  local offers =
    { { title = 'Fetch', command = 'ralph.loop.fetch', arguments = { { loopId = 'f1' } } } }
  local from = vim.tbl_extend('error', crater, { origin = 'file:///w/app' })
  local old = vim.tbl_extend(
    'force',
    from,
    { loopId = 'f0', title = 'old', live = false, state = 'ended', offers = offers }
  )
  says(nvim, from, old)
  local ended =
    vim.tbl_extend('force', old, { loopId = 'f1', title = 'crater', text = 'done · $0.20' })
  says(nvim, ended, old)
  nvim:wait_note('^Ralph "crater" done · %$0.20$')
  nvim:command('Ralph')
  nvim:wait([[vim.fn.search('crater', 'w') > 0]])
  expect.equal(nvim:lua('return { #asked, #notes }'), { 0, 1 })
  nvim:type('r')
  nvim:decide('crater', 'Fetch')
  nvim:wait([[vim.iter(sent):any(function(one) return one.command == 'ralph.loop.fetch' end)]])
end)

it('runs loops as ever where ralph-fleet is missing, and says what to do', function()
  local bin = child.folder()
  assert(vim.uv.fs_copyfile(vim.env.RALPH_BIN, bin .. '/ralph-lsp'))
  local bus = 'nats://127.0.0.1:1'
  local nvim =
    child.start({ ralph = { cmd = { bin .. '/ralph-lsp', '--stdio' }, fleet = { bus = bus } } })
  nvim:command('Ralph once --completion-promise=DONE hello')
  local note = nvim:wait_note(
    '^Ralph: the loops of nats://127.0.0.1:1 are not shown, as ralph%-fleet was not found'
  )
  expect.equal(note.level, vim.log.levels.WARN)
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  nvim:command('checkhealth ralph')
  nvim:wait([[vim.fn.search('WARNING the loops of nats', 'nw') > 0]])
end)

--- The environment of a fleet's user, whose commands find the bus's token.
local function user(home)
  return {
    HOME = home,
    XDG_STATE_HOME = home .. '/state',
    PATH = vim.env.RALPH_AGENTS .. ':/usr/local/bin:/usr/bin:/bin',
  }
end

--- Starts a part of a fleet, and waits until it logs what matches, which is returned.
local function part(home, pattern, ...)
  local log = ''
  child.job({ vim.env.RALPH_FLEET_BIN, ... }, {
    clear_env = true,
    env = user(home),
    on_stderr = function(_, lines)
      log = log .. table.concat(lines, '\n')
    end,
  })
  local ok = vim.wait(child.patience, function()
    return log:match(pattern .. '%s') ~= nil
  end, 10)
  assert(ok, log)
  return log:match(pattern)
end

--- Runs a command that has to end well.
local function run(command, cwd, env)
  local done = vim.system(command, { cwd = cwd, env = env, text = true }):wait(child.patience)
  assert(done.code == 0, vim.inspect(done))
  return done.stdout
end

it('shows loops of a real bus, and does with them what all others know', function()
  local base = child.folder()
  local app = base .. '/app'
  vim.fn.mkdir(app)
  child.write(app .. '/a', 'one\n')
  run({ 'git', 'init', '-q' }, app)
  run({ 'git', 'config', 'user.name', 'Ann' }, app)
  run({ 'git', 'config', 'user.email', 'ann@example.com' }, app)
  run({ 'git', 'add', '-A' }, app)
  run({ 'git', 'commit', '-qm', 'first' }, app)
  local here, work = '--listen=127.0.0.1:0', '--dir=' .. base .. '/work'
  local bus = part(base, 'nats://[%d.:]+', 'serve', here, '--dir=' .. base .. '/bus')
  local at = '--bus=' .. bus
  part(base, 'ready', 'worker', '--name=box-1', '--sandbox=off', '--slots=2', work, at)
  local function submit(name, ...)
    local task = { '--repo=' .. app, '--name=' .. name, '--backend=pi', ... }
    run(vim.list_extend({ vim.env.RALPH_FLEET_BIN, 'submit', at }, task), nil, user(base))
  end
  submit('long', '--max-iterations=3', 'agent: hang')
  submit('short', '--completion-promise=DONE', 'agent: promise 2')

  local nvim = child.start({ dir = app, home = base, ralph = { fleet = { bus = bus } } })
  nvim:command('Ralph')
  nvim:wait([[vim.fn.search('^▸ long .*1/3 .*bash sleep 900.* box-1$', 'nw') > 0]])
  nvim:wait([[vim.fn.search('^▸ short .*done: DONE after 2', 'w') > 0]])
  nvim:wait([[require('ralph').status().loops[1].origin == want]], vim.uri_from_fname(app))

  local function goes_to(title)
    nvim:command('Ralph')
    nvim:wait(
      [[vim.bo.filetype == 'ralphloops' and vim.fn.search('^▸ ' .. want, 'w') > 0]],
      title
    )
  end
  goes_to('short')
  nvim:type('<CR>')
  nvim:wait([[vim.fn.search('■ done: DONE after 2 iterations', 'nw') > 0]])
  goes_to('short')
  nvim:type('r')
  nvim:decide('short', 'Fetch Its Branch')
  nvim:wait_note('ralph/short')
  expect.equal(run({ 'git', 'show', 'ralph/short:work.txt' }, app), 'iteration 2\n')
  nvim:type('C')
  nvim:wait([[vim.fn.search('^+iteration 2', 'nw') > 0]])

  goes_to('long')
  nvim:type('<CR>')
  nvim:wait([[vim.fn.search('● bash  sleep 900', 'nw') > 0]])
  nvim:answer('^Tell long', 'another way')
  nvim:type('s')
  nvim:wait([[vim.fn.search('guidance .*another way', 'nw') > 0]])
  nvim:answer('^Cancel long', 'Cancel it')
  nvim:type('c')
  nvim:wait([[vim.fn.search('✗ bash  sleep 900', 'nw') > 0]])
  nvim:wait([[not require('ralph').status().busy]])

  nvim:command('Ralph start --completion-promise=DONE hello') -- here, as ever
  nvim:wait_event('RalphEnded', { stopReason = 'promise', folder = app })
  nvim:command('checkhealth ralph')
  nvim:wait([[vim.fn.search('OK .*ralph-fleet)', 'nw') > 0]])
  nvim:wait([[vim.fn.search('OK the bus ' .. want .. ' answers, with 2 loops', 'nw') > 0]], bus)
end)
