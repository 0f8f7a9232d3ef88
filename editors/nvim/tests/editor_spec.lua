local child = require('child')
local expect = require('expect')
local it = _G.it

local doc_file = vim.api.nvim_get_runtime_file('doc/ralph.txt', false)[1]

it('costs nothing until it is used', function()
  local nvim = child.start()
  expect.equal(
    nvim:lua([[
      return vim.tbl_filter(function(name) return name:find('^ralph') end, vim.tbl_keys(package.loaded))
    ]]),
    {}
  )
  expect.equal(nvim:lua([[return require('ralph').statusline()]]), '')
  expect.equal(nvim:lua('return vim.g.ralph_status'), '')
  expect.equal(nvim:sidecar(), nil)
end)

it('is loaded by packadd, and then offers a loop that was left behind', function()
  local dir = child.folder()
  vim.fn.mkdir(dir .. '/.pi')
  child.write(
    dir .. '/.pi/ralph-loop.local.md',
    '---\nactive: true\niteration: 3\nmax_iterations: 9\ncompletion_promise: "DONE"\n'
      .. 'started_at: "2026-01-02T17:35:07Z"\nbackend: pi\n---\n\nBuild it\n'
  )
  local nvim = child.start({ dir = dir, packadd = true })
  expect.equal(nvim:lua([[return vim.fn.exists(':Ralph')]]), 0)
  nvim:command('packadd ralph')
  nvim:decide('interrupted at 3/9', 'Resume')
  nvim:wait_event('RalphEnded', { stopReason = 'promise', iterations = 3 })
  expect.contains(nvim:wait_file('prompt.txt'), 'Build it')
end)

it('leaves the user alone who is typing', function()
  local nvim = child.start({ ralph = { flags = { '--backend=pi', '--max-iterations=1' } } })
  nvim:type('i')
  nvim:lua([[require('ralph').start({ prompt = 'agent: promise 9' })]])
  nvim:wait_event('RalphEnded')
  nvim:type('typed on')
  nvim:wait([[vim.api.nvim_get_current_line() == 'typed on']])
  expect.equal(nvim:lua('return #asked'), 0)
  nvim:type('<Esc>')
  nvim:asked('iteration limit reached')
end)

it('lets who has begun to type decide later what a command asks', function()
  local nvim = child.start()
  nvim:command([[Ralph start 'agent: hang']])
  nvim:wait_file('tool.pid')
  nvim:type('i')
  nvim:lua([[require('ralph').start({ prompt = 'other' })]])
  nvim:wait('#vim.api.nvim_list_wins() == 2')
  nvim:type('12<CR><Esc>')
  nvim:wait([[vim.fn.line('$') == 2]])
  expect.equal(nvim:lua('return #asked'), 0)
  nvim:decide('Ralph loop active. Cancel it', 'Cancel It and Start')
  nvim:wait_event('RalphEnded', { stopReason = 'cancelled' })
end)

it('shows mistakes in the configuration', function()
  local dir = child.folder()
  child.write(dir .. '/ralph.toml', 'bakend = "pi"\n')
  local nvim = child.start({ dir = dir })
  nvim:command('edit ralph.toml')
  nvim:wait('#vim.diagnostic.get(0) > 0')
  expect.contains(nvim:lua('return vim.diagnostic.get(0)[1].message'), 'backend')
end)

it('runs what the folder says only when it is trusted', function()
  local dir = child.folder()
  local agent = dir .. '/agent.sh'
  child.write(agent, "#!/bin/sh\ncat >prompt.txt\necho '<promise>DONE</promise>'\n")
  vim.uv.fs_chmod(agent, 493) -- 0755
  child.write(
    dir .. '/ralph.toml',
    ('backend = "mine"\n[backends.mine]\ncommand = "%s"\n'):format(agent)
  )
  local nvim = child.start({ dir = dir, ralph = { flags = {} } })
  nvim:answer('not trusted', 'Leave it')
  nvim:command('Ralph start --completion-promise=DONE Build it')
  nvim:wait('#asked == 1')
  expect.equal(child.read(dir .. '/prompt.txt'), nil)
  nvim:answer('not trusted', 'Trust It and Go On')
  nvim:command('Ralph start --completion-promise=DONE Build it')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  expect.contains(nvim:wait_file('prompt.txt'), 'Build it')
end)

it('has a function for each command, a command for each function, and help for both', function()
  local ralph, doc = require('ralph'), child.read(doc_file)
  local only_functions = { setup = true, base = true, statusline = true } -- for configurations
  local missing, names = {}, require('ralph.commands').all
  for name in pairs(names) do
    if type(ralph[name]) ~= 'function' then
      table.insert(missing, ("require('ralph').%s"):format(name))
    end
    for _, tag in ipairs({ '*:Ralph-' .. name .. '*', '*ralph.' .. name .. '()*' }) do
      if not doc:find(tag, 1, true) then
        table.insert(missing, tag)
      end
    end
  end
  for name in doc:gmatch('%*ralph%.([%w_]+)%(%)%*') do
    if not names[name] and not only_functions[name] then
      table.insert(missing, ':Ralph ' .. name)
    end
  end
  for name in pairs(ralph) do
    if not names[name] and not only_functions[name] then
      table.insert(missing, ':Ralph ' .. name)
    end
  end
  expect.equal(missing, {})
end)

it('does by functions what its commands do', function()
  local dir = child.folder()
  child.write(dir .. '/a.txt', 'one\n')
  local nvim = child.start({ dir = dir, ralph = { notify = 'never' } })
  nvim:lua([[require('ralph').start({ text = "--completion-promise=DONE 'agent: promise 1'" })]])
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  nvim:lua([[require('ralph').history(nil, function(_, result) _G.past = result.loops end)]])
  expect.equal(#nvim:wait('past'), 1)
  nvim:lua([[require('ralph').changes('1')]])
  nvim:wait([[vim.bo.buftype == 'quickfix' or #vim.fn.getqflist() > 0]])
  nvim:lua([[require('ralph').doctor()]])
  nvim:wait([[vim.api.nvim_win_get_config(0).relative ~= '']])
  nvim:type('q')
  nvim:lua([[require('ralph').update('--max-iterations=x')]])
  nvim:wait_note('max%-iterations')
  nvim:lua([[require('ralph').help()]])
  nvim:wait([[vim.bo.buftype == 'help']])
end)

it('completes subcommands, flags, backends, hats and files', function()
  local dir = child.folder()
  child.write(dir .. '/ralph.toml', '[hats]\nplanner.backend = "pi"\nbuilder.backend = "pi"\n')
  local nvim = child.start({ dir = dir })
  local function complete(line)
    return nvim:lua([[return vim.fn.getcompletion(..., 'cmdline')]], line)
  end
  expect.equal(complete('Ralph st'), { 'start', 'state', 'status', 'steer' })
  expect.equal(complete('Ralph start --max-it'), { '--max-iterations=' })
  expect.equal(complete('Ralph start --backend=cl'), { '--backend=claude' })
  expect.equal(complete('Ralph once --hat='), { '--hat=builder', '--hat=planner' })
  expect.equal(complete('Ralph once --no-i'), { '--no-instruct' })
  expect.equal(complete('Ralph once --w'), { '--with-changes', '--workers=', '--worktree' })
  expect.equal(complete('Ralph start --verif'), { '--verify=' })
  expect.equal(complete('Ralph start --permissions=as'), { '--permissions=ask' })
  expect.equal(complete('Ralph start --model='), {})
  expect.equal(complete('Ralph start --backend=./ralph.t'), { '--backend=./ralph.toml' })
  assert(vim.list_contains(complete('Ralph start '), '--hat='))
  expect.equal(complete('Ralph start ralph.t'), { 'ralph.toml' })
  expect.equal(complete('Ralph resume --max-c'), { '--max-cost=' })
  expect.equal(complete('Ralph update --back'), {})
  expect.equal(complete('Ral start --max-it'), { '--max-iterations=' })
  expect.equal(complete('Ralph pause '), {})
end)

it('has a help text for every command, option, event and function', function()
  local nvim = child.start()
  local names = nvim:lua([[
    local names = {}
    for name in pairs(require('ralph.commands').all) do table.insert(names, ':Ralph-' .. name) end
    for key, value in pairs(require('ralph.config').defaults) do
      table.insert(names, 'ralph-option-' .. key)
      for inner in pairs(type(value) == 'table' and value or {}) do
        if type(inner) == 'string' then table.insert(names, 'ralph-option-' .. key .. '.' .. inner) end
      end
    end
    for name, value in pairs(require('ralph')) do
      if type(value) == 'function' then table.insert(names, 'ralph.' .. name .. '()') end
    end
    return names
  ]])
  vim.list_extend(names, { 'ralph-option-cmd', 'ralph-option-root', 'g:ralph', 'g:ralph_status' })
  for _, event in ipairs({
    'Started',
    'Iteration',
    'Tool',
    'Cost',
    'Ended',
    'Interrupted',
    'Status',
  }) do
    table.insert(names, 'Ralph' .. event)
  end
  local doc =
    child.read(nvim:lua([[return vim.api.nvim_get_runtime_file('doc/ralph.txt', false)[1] ]]))
  for _, name in ipairs(names) do
    expect.contains(doc, '*' .. name .. '*')
  end
  local tags = child.folder()
  child.write(tags .. '/ralph.txt', doc)
  nvim:command('helptags ' .. tags) -- fails on a tag that is there twice
end)

it('opens its help', function()
  local nvim = child.start()
  nvim:command('Ralph help')
  expect.matches(nvim:lua('return vim.api.nvim_buf_get_name(0)'), 'doc/ralph%.txt$')
end)

it('reports its health', function()
  local nvim = child.start({ ralph = { notfy = 'never' } })
  nvim:command('checkhealth ralph')
  local text = nvim:text()
  expect.contains(text, 'unknown key notfy, did you mean notify?')
  expect.matches(text, 'OK ralph%-lsp ')
  expect.contains(text, 'OK pi 0.80.3')
  expect.contains(text, 'ralph-lsp.log')
  assert(not text:find('ERROR'), text)
end)

it('reports a sidecar that is missing', function()
  local nvim = child.start({ ralph = { cmd = { '/nowhere/ralph-lsp' } } })
  nvim:command('checkhealth ralph')
  expect.matches(nvim:text(), 'ERROR /nowhere/ralph%-lsp')
end)

it('opens the state file, the log and the doctor', function()
  local nvim = child.start()
  nvim:command([[Ralph start 'agent: hang']])
  nvim:wait_file('tool.pid')
  nvim:command('Ralph state')
  nvim:wait([[vim.api.nvim_buf_get_lines(0, 1, 2, false)[1] == 'active: true']])
  nvim:command('Ralph log')
  expect.matches(nvim:lua('return vim.api.nvim_buf_get_name(0)'), 'ralph%-lsp%.log$')
  nvim:command('Ralph doctor')
  nvim:wait([[vim.api.nvim_win_get_config(0).relative == 'editor']])
  expect.contains(
    nvim:lua('return vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]'),
    'loops can run here: '
  )
  expect.contains(nvim:text(), '✓ pi 0.80.3')
  local first = nvim:lua([[return vim.fn.search('^✓', 'n')]])
  expect.equal(nvim:lua('return vim.fn.foldclosed(...)', first), first)
  nvim:command('close')
end)

it('reloads the buffer of a loop of the sidecar that it edits by hand', function()
  local nvim = child.start({ ralph = { notify = 'never' } })
  nvim:command([[Ralph start --max-iterations=9 'agent: steps 4']])
  nvim:wait_event('RalphIteration', { phase = 'begin' })
  nvim:command('Ralph state')
  nvim:command([[%s/max_iterations: 9/max_iterations: 1/]])
  nvim:command('write!')
  nvim:wait_event('RalphEnded', { stopReason = 'max_iterations', iterations = 1 })
end)

it('lists the loops of the past and reads them back', function()
  local nvim = child.start()
  nvim:command([[Ralph start --completion-promise=DONE --max-iterations=3 'agent: promise 2']])
  nvim:wait_event('RalphEnded')
  nvim:command('Ralph output')
  nvim:wait([[vim.fn.search('■ done', 'nw') > 0]])
  local live = nvim:text()
  nvim:command('only')
  nvim:command('Ralph restart')
  nvim:wait_note('was restarted')
  nvim:command('Ralph history')
  nvim:wait('#asked == 1')
  local label = nvim:lua('return asked[1].labels[1]')
  expect.matches(label, '%d%d%d%d%-%d%d%-%d%d .* pi .* done: DONE after 2 iterations · ')
  nvim:answer('Ralph loops', label)
  nvim:command('Ralph history')
  nvim:wait(
    [[vim.fn.search('■ done', 'nw') > 0 and vim.api.nvim_buf_get_name(0):find('^ralph%-session')]]
  )
  local read = nvim:text()
  for _, part in ipairs({
    'I write the file.',
    '✓ write  work.txt',
    'More is to be done.',
    '▌ iteration 2 of 3 · ok',
  }) do
    expect.contains(live, part)
    expect.contains(read, part)
  end
end)

it('shows the output of a loop that an earlier Neovim began', function()
  local first = child.start()
  first:command([[Ralph start --max-iterations=4 'agent: hang']])
  first:wait_file('tool.pid')
  first:wait([[require('ralph').statusline():find('sleep 900')]])
  first:quit()
  local second = child.start({ dir = first.dir, home = first.home })
  second:command('doautocmd VimEnter')
  second:wait([[require('ralph').statusline():find('1/4 .*sleep 900')]]) -- it is back soon enough
  second:command('Ralph output')
  second:wait([[vim.fn.search('This will take a while', 'nw') > 0]])
end)

it('expands the path of the log, and makes its folder', function()
  local nvim = child.start({ ralph = { log = '~/logs/ralph.log' } })
  nvim:command('Ralph once --completion-promise=DONE Build it')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  assert(child.read(nvim.home .. '/logs/ralph.log'), 'no log')
  expect.equal(vim.uv.fs_stat(nvim.dir .. '/~'), nil)
  nvim:command('Ralph log')
  expect.equal(nvim:lua('return vim.api.nvim_buf_get_name(0)'), nvim.home .. '/logs/ralph.log')
end)

it('goes on without a log that can not be written', function()
  local dir = child.folder()
  child.write(dir .. '/file', '')
  local nvim = child.start({ dir = dir, ralph = { log = dir .. '/file/ralph.log' } })
  nvim:command('Ralph once --completion-promise=DONE Build it')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  local note = nvim:wait_note("the log .*/file/ralph%.log can't be written")
  expect.contains(note.message, 'log in vim.g.ralph')
  nvim:command('Ralph log')
  nvim:wait_note('there is no log yet')
end)

it('says that an empty path is none for the log', function()
  local nvim = child.start({ ralph = { log = '' } })
  nvim:command('Ralph log') -- takes the default
  nvim:wait_note('there is no log yet')
  nvim:command('checkhealth ralph')
  expect.contains(nvim:text(), 'log must be a path or false, not ""')
end)

it('plans in a terminal, with the flags of a start', function()
  local nvim = child.start({ ralph = { flags = { '--backend=pi', '--max-iterations=3' } } })
  nvim:command([[Ralph plan --model=big Don't hurry]])
  nvim:wait([[vim.bo.buftype == 'terminal']])
  local pid = nvim:lua('return vim.b.terminal_job_pid')
  local words
  vim.wait(child.patience, function() -- until it has become the agent
    words = child.read(('/proc/%d/cmdline'):format(pid)):gsub('%z', '|')
    return words:find('/pi|', 1, true)
  end, 10)
  expect.contains(words, "/pi|--no-session|--model|big|Don't hurry\n")
  expect.contains(words, 'write it as tasks into PLAN.md')
  nvim:command('Ralph plan --modl=big x')
  nvim:wait_note('did you mean %-%-model')
  expect.equal(
    nvim:lua([[return vim.fn.getcompletion('Ralph plan --mod', 'cmdline')]]),
    { '--model=' }
  )
end)

it('still has progress for other plugins', function()
  local nvim = child.start()
  nvim:lua([[
    _G.progress = {}
    vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
      table.insert(progress, event.data.params.value)
    end })
  ]])
  nvim:command([[Ralph start --completion-promise=DONE --max-iterations=3 'agent: promise 2']])
  nvim:wait([[progress[#progress] and progress[#progress].kind == 'end']])
  local progress = nvim:lua('return progress')
  expect.equal({ progress[1].kind, progress[1].title }, { 'begin', 'Ralph' })
  expect.contains(progress[#progress].message, 'done: DONE after 2 iterations')
end)

it('has a component for lualine', function()
  local nvim = child.start()
  -- As lualine's own: a class with extend and super, whose init makes what draws
  -- the colour of the options that it has by then.
  nvim:lua([[
    local Base = {}
    Base.__index = Base
    function Base:init(options)
      self.options = options
      if options.color then
        options.color_highlight = { fn = options.color }
      end
    end
    function Base.extend(class)
      local sub = setmetatable({ super = class }, class)
      sub.__index = sub
      return sub
    end
    package.loaded['lualine.component'] = Base
  ]])
  nvim:command([[Ralph start --completion-promise=DONE 'agent: promise 1']])
  nvim:wait([[require('ralph').statusline():find('^Ralph done')]])
  local component = nvim:lua([[
    local class = require('lualine.components.ralph')
    local one = setmetatable({}, class)
    one:init({})
    return { one:update_status(), one.options.color_highlight.fn() }
  ]])
  expect.matches(component[1], '^Ralph done · %$0%.%d%d$')
  expect.equal(component[2], 'DiagnosticOk')
end)

it('takes a $ in the path of a folder as a letter', function()
  local dir = child.folder() .. '/a$HOME b'
  vim.fn.mkdir(dir, 'p')
  child.write(dir .. '/work.txt', 'before\n')
  local state = child.folder() .. '/$HOME'
  local env = { XDG_STATE_HOME = state, NAMED = dir }
  local nvim = child.start({ dir = dir, env = env })
  nvim:command('edit work.txt')
  nvim:command([[Ralph start --completion-promise=DONE 'agent: promise 1']])
  nvim:wait_event('RalphEnded', { stopReason = 'promise', folder = dir })
  nvim:wait([[vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'iteration 1']])
  assert(vim.uv.fs_stat(state .. '/nvim/ralph-lsp.log'), 'the log is elsewhere')
  nvim:command('Ralph output')
  nvim:wait([[vim.fn.search('■ done', 'nw') > 0]])
  expect.equal(nvim:lua([[return require('ralph.config').written_folder('$NAMED')]]), dir)
end)

it('keeps a relative log where it is', function()
  local nvim = child.start({ ralph = { log = 'logs/ralph.log' } })
  nvim:command('Ralph cancel')
  nvim:wait_note('no loop')
  nvim:command('cd ' .. child.folder())
  nvim:command('Ralph log')
  expect.equal(nvim:lua('return vim.api.nvim_buf_get_name(0)'), nvim.dir .. '/logs/ralph.log')
end)
