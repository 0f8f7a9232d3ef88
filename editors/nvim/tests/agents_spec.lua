-- The real pi and the real claude against a scripted model on this machine. The environment has
-- RALPH_REAL_AGENTS, the folder where the agents are installed, and
-- RALPH_FAKE_MODEL, the program that plays the model.
local child = require('child')
local expect = require('expect')
local it = _G.it

--- The folder of commands of an npm package that is installed; its newest.
local function commands(name)
  local found = vim.fn.glob(vim.env.RALPH_REAL_AGENTS .. '/' .. name .. '-*', false, true)
  assert(#found > 0, name .. ' is not installed in ' .. vim.env.RALPH_REAL_AGENTS)
  table.sort(found, function(a, b)
    return vim.version.lt(a:match('[%d.]+$'), b:match('[%d.]+$'))
  end)
  return found[#found] .. '/node_modules/.bin'
end

--- Starts the model; it ends with this Neovim, or sooner.
local function start_model(script)
  local path = child.folder() .. '/script.json'
  child.write(path, vim.json.encode(script))
  local url = ''
  local job = vim.fn.jobstart({ vim.env.RALPH_FAKE_MODEL, '-script', path, '-watch-stdin' }, {
    on_stdout = function(_, lines)
      url = url .. table.concat(lines)
    end,
  })
  assert(job > 0)
  assert(
    vim.wait(child.patience, function()
      return url:match('^http://127%.0%.0%.1:%d+$') ~= nil
    end, 10),
    'the model did not start'
  )
  return url, job
end

local function home_for(url)
  local home = child.folder()
  vim.fn.mkdir(home .. '/.pi/agent', 'p')
  child.write(
    home .. '/.pi/agent/models.json',
    vim.json.encode({
      providers = {
        fake = {
          baseUrl = url,
          api = 'anthropic-messages',
          apiKey = 'fake',
          models = {
            {
              id = 'fake-model',
              reasoning = true,
              contextWindow = 200000,
              maxTokens = 8192,
              cost = { input = 3, output = 15, cacheRead = 0.3, cacheWrite = 3.75 },
            },
          },
        },
      },
    })
  )
  return home
end

local agents = {
  pi = {
    flags = { '--provider', 'fake', '--model', 'fake-model' },
    tools = { bash = 'bash', write = 'write', path = 'path' },
  },
  claude = {
    flags = {},
    tools = { bash = 'Bash', write = 'Write', path = 'file_path' },
  },
}

--- A Neovim whose loops run a real agent, with more arguments of that if need be. The
--- model's job is the second value.
local function start(name, script, more)
  local url, job = start_model(script)
  local flags = { '--backend=' .. name }
  for _, flag in ipairs(vim.list_extend(vim.list_slice(agents[name].flags), more or {})) do
    table.insert(flags, '--backend-arg=' .. flag)
  end
  local nvim = child.start({
    home = home_for(url),
    env = {
      PATH = table.concat(
        { commands(name), commands('node'), '/usr/local/bin:/usr/bin:/bin' },
        ':'
      ),
      PI_OFFLINE = '1',
      PI_TELEMETRY = '0',
      PI_SKIP_VERSION_CHECK = '1',
      ANTHROPIC_BASE_URL = url,
      ANTHROPIC_API_KEY = 'fake',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = '1',
      DISABLE_AUTOUPDATER = '1',
      HTTP_PROXY = 'http://127.0.0.1:9', -- nobody listens: nothing leaves the machine
      HTTPS_PROXY = 'http://127.0.0.1:9',
      NO_PROXY = '127.0.0.1,localhost',
    },
    ralph = { flags = flags },
  })
  return nvim, job
end

it('runs the real pi', function()
  local usage = { input = 1000, output = 200, cache_read = 5000, cache_write = 300 }
  local nvim, job = start('pi', {
    usage = usage,
    turns = {
      { text = 'Not yet, there is more to do.' },
      {
        steps = {
          { text = 'Writing it.' },
          { tool = { name = 'write', args = { path = 'hello.txt', content = 'hello\n' } } },
          { tool = { name = 'bash', args = { command = 'echo hello > shell.txt' } } },
        },
      },
      { text = 'All done. <promise>DONE</promise>' },
    },
  })
  child.write(nvim.dir .. '/hello.txt', 'before\n')
  nvim:command('edit hello.txt')
  nvim:command('Ralph start --completion-promise=DONE --max-iterations=4 Write hello.txt')
  local ended = nvim:wait_event('RalphEnded')
  vim.fn.jobstop(job)
  expect.equal({ ended.stopReason, ended.iterations }, { 'promise', 2 })
  assert(ended.costUsd > 0)
  nvim:wait([[vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'hello']])
  nvim:command('Ralph output')
  nvim:wait([[vim.fn.search('■ done: DONE after 2 iterations', 'nw') > 0]])
  local text = nvim:text()
  for _, part in ipairs({
    'Not yet',
    'fake · fake-model',
    '✓ write  hello.txt',
    '▌ iteration 2 of 4 · ok · $0.0',
  }) do
    expect.contains(text, part)
  end
  nvim:command('Ralph changes')
  nvim:wait([[vim.bo.buftype == 'quickfix']])
  text = nvim:text()
  for _, part in ipairs({ 'hello.txt|1| +1 -1 hello', 'shell.txt|1| +1 -0 hello' }) do
    expect.contains(text, part)
  end
end)

for _, name in ipairs({ 'pi', 'claude' }) do
  it('changes the course of ' .. name .. ' in the middle of a tool', function()
    local tools = agents[name].tools
    local function does(tool, args)
      return { steps = { { tool = { name = tool, args = args } } } }
    end
    local function writes(file)
      return does(tools.write, { [tools.path] = file, content = 'mine\n' })
    end
    local told = writes('this.txt')
    told.match = 'stop, not that file'
    local nvim = start(name, {
      turns = {
        told,
        { match = 'this.txt', text = 'As you say. <promise>DONE</promise>' },
        does(tools.bash, { command = 'until test -e go; do sleep 0.1; done' }),
        writes('that.txt'),
      },
    }, name == 'claude' and { '--allowedTools=Bash' })
    nvim:command('Ralph start --completion-promise=DONE --max-iterations=1 Write that.txt')
    nvim:wait([[require('ralph').statusline():find('until test')]])
    nvim:command('Ralph output')
    nvim:command('Ralph steer stop, not that file')
    nvim:wait_note('the running agent is told at its next step')
    nvim:wait([[vim.fn.search('guidance for the running agent', 'nw') > 0]])
    child.write(nvim.dir .. '/go', '')
    local ended = nvim:wait_event('RalphEnded')
    expect.equal({ ended.stopReason, ended.iterations }, { 'promise', 1 })
    expect.equal(child.read(nvim.dir .. '/that.txt'), nil)
    expect.equal(child.read(nvim.dir .. '/this.txt'), 'mine\n')
    nvim:wait([[vim.fn.search('^› stop, not that file', 'nw') > 0]])
  end)
end

it('denies and allows what claude asks, in the same run', function()
  local function runs(command, match)
    return { match = match, steps = { { tool = { name = 'Bash', args = { command = command } } } } }
  end
  local nvim = start('claude', {
    turns = {
      runs('touch mine.txt', 'not that file'),
      runs('touch yours.txt'),
      { text = 'As you say. <promise>DONE</promise>' },
    },
  })
  nvim:command('Ralph start --permissions=ask --completion-promise=DONE --max-iterations=1 Go on')
  local function answer(file, keys)
    nvim:wait(
      'vim.iter(vim.api.nvim_list_bufs()):find(function(buf) '
        .. 'return vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1] == want end)',
      'touch ' .. file
    )
    nvim:command('Ralph answer')
    nvim:type(keys)
  end
  nvim:answer('^Why not', 'not that file')
  answer('yours.txt', 'D')
  answer('mine.txt', 'o')
  local ended = nvim:wait_event('RalphEnded')
  expect.equal({ ended.stopReason, ended.iterations }, { 'promise', 1 })
  expect.equal(child.read(nvim.dir .. '/yours.txt'), nil)
  expect.equal(child.read(nvim.dir .. '/mine.txt'), '')
  nvim:command('Ralph output')
  nvim:wait([[vim.fn.search('denied: Bash touch yours.txt: not that file', 'nw') > 0]])
  nvim:wait([[vim.fn.search('allowed once: Bash touch mine.txt', 'nw') > 0]])
  expect.equal(nvim:lua('return #vim.api.nvim_list_wins()'), 2)
end)
