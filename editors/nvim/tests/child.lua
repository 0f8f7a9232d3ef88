-- A Neovim with the plugin, driven over RPC, in a folder of its own.
local M = {}

--- Milliseconds that bound every wait: only what hangs takes longer.
M.patience = tonumber(vim.env.RALPH_PATIENCE) or 300000

local Child = {}
Child.__index = Child

local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p'))
local plugin = vim.fs.dirname(here)

local children = {}
local jobs = {}

--- How the child is set up: what the user is told and asked is kept, events too.
local prepare = [[
  _G.notes, _G.asked, _G.answers, _G.seen = {}, {}, {}, {}
  vim.notify = function(message, level) table.insert(notes, { message = message, level = level }) end
  local function answer(prompt, choose)
    for index, one in ipairs(answers) do
      if prompt:find(one[1]) then
        table.remove(answers, index)
        return vim.defer_fn(function() choose(one[2]) end, 100) -- nobody answers sooner
      end
    end
  end
  vim.ui.select = function(items, opts, done)
    local labels = vim.tbl_map(opts.format_item or tostring, items)
    table.insert(asked, { prompt = opts.prompt, labels = labels })
    answer(opts.prompt, function(wanted)
      for index, label in ipairs(labels) do
        if label == wanted then return done(items[index], index) end
      end
      error('no choice ' .. wanted .. ' in ' .. vim.inspect(labels))
    end)
  end
  vim.ui.input = function(opts, done)
    table.insert(asked, { prompt = opts.prompt, default = opts.default })
    answer(opts.prompt, done)
  end
  vim.api.nvim_create_autocmd('User', { pattern = 'Ralph*', callback = function(event)
    table.insert(seen, { name = event.match, data = event.data or {} })
  end })
]]

--- A new folder.
function M.folder()
  local dir = vim.fn.resolve(vim.fn.tempname())
  vim.fn.mkdir(dir, 'p')
  return dir
end

--- Writes a file.
function M.write(path, text)
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
end

--- Reads a file; nil when there is none.
function M.read(path)
  local file = io.open(path, 'rb')
  if not file then
    return nil
  end
  local text = file:read('*a')
  file:close()
  return text
end

--- Starts a child. Options: dir, home, ralph (settings), env, args, and packadd:
--- the plugin is an optional package, which isn't loaded yet.
function M.start(options)
  options = options or {}
  local dir = options.dir or M.folder()
  local home = options.home or M.folder()
  local self = setmetatable({ dir = dir, home = home, errors = {} }, Child)
  local settings = vim.tbl_extend('force', {
    cmd = { vim.env.RALPH_BIN, '--stdio' },
    flags = { '--backend=pi' },
  }, options.ralph or {})
  local command = { vim.v.progpath, '--embed', '--headless', '--clean', '-n' }
  if options.packadd then
    vim.fn.mkdir(home .. '/pack/test/opt', 'p')
    vim.uv.fs_symlink(plugin, home .. '/pack/test/opt/ralph')
    vim.list_extend(command, { '--cmd', 'set packpath^=' .. home })
  else
    vim.list_extend(command, { '--cmd', 'set runtimepath^=' .. plugin })
  end
  vim.list_extend(command, { '--cmd', 'let g:ralph = ' .. vim.fn.string(settings) })
  vim.list_extend(command, options.args or {})
  if not options.unoffered then -- else the first start may offer a sandbox
    vim.fn.mkdir(home .. '/config/ralph-lsp', 'p')
    vim.fn.writefile({ 'sandbox' }, home .. '/config/ralph-lsp/offered')
  end
  self.channel = vim.fn.jobstart(command, {
    rpc = true,
    cwd = dir,
    clear_env = true, -- no accounts, no settings of the user's
    env = vim.tbl_extend('force', {
      HOME = home,
      LANG = 'C.UTF-8',
      PATH = vim.env.RALPH_AGENTS .. ':/usr/local/bin:/usr/bin:/bin',
      XDG_CONFIG_HOME = home .. '/config',
      XDG_DATA_HOME = home .. '/data',
      XDG_STATE_HOME = home .. '/state',
      XDG_CACHE_HOME = home .. '/cache',
      NVIM_LOG_FILE = home .. '/nvim.log',
    }, options.env or {}),
    on_stderr = function(_, lines)
      vim.list_extend(self.errors, lines)
    end,
    on_exit = function(_, code)
      self.exit_code = code
    end,
  })
  assert(self.channel > 0, 'nvim could not be started')
  table.insert(children, self)
  self.pid = vim.fn.jobpid(self.channel)
  self:lua(prepare)
  return self
end

--- Runs Lua in the child; the chunk gets the arguments and returns a value.
function Child:lua(code, ...)
  return vim.rpcrequest(self.channel, 'nvim_exec_lua', code, { ... })
end

--- Runs an Ex command.
function Child:command(command)
  vim.rpcrequest(self.channel, 'nvim_command', command)
end

--- Types keys.
function Child:type(keys)
  vim.rpcrequest(self.channel, 'nvim_input', keys)
end

--- Answers the next question that matches: a label for a choice, or a text.
function Child:answer(prompt, text)
  self:lua('table.insert(answers, { ... })', prompt, text)
end

--- Goes to the window with what is to be decided, once it is there, and returns what it shows:
--- the title, and all that can be chosen with its key.
function Child:asked(pattern)
  self:wait(
    [[vim.iter(vim.api.nvim_list_wins()):any(function(win)
      local title = vim.api.nvim_win_get_config(win).title
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)
      return title and (title[1][1] .. table.concat(lines, ' ')):find(want) ~= nil
    end)]],
    pattern
  )
  self:command('Ralph answer')
  local text = self:wait([[vim.api.nvim_win_get_config(0).relative ~= ''
    and table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')]])
  local keys, rest = text:match('^(.-\n)' .. ('─'):rep(20) .. '\n(.*)$')
  local choices = {}
  for key, title in keys:gmatch(' (%S+) +([^\n]+)\n') do
    choices[#choices + 1], choices[title] = title, key
  end
  return { text = rest, choices = choices }
end

--- Decides what is asked by one of the choices.
function Child:decide(pattern, choice)
  local asked = self:asked(pattern)
  assert(asked.choices[choice], 'no choice ' .. choice .. ' in ' .. vim.inspect(asked))
  self:type(asked.choices[choice])
  return asked
end

--- Fails with what there is to see, in place of what was waited for.
function Child:fail(what, seen)
  error(
    ('%s%s\nnotes: %s\nasked: %s\nstatus: %s\nbuffer: %s'):format(
      what,
      seen and '\nseen: ' .. vim.inspect(seen) or '',
      vim.inspect(self:lua('return notes')),
      vim.inspect(self:lua('return asked')),
      vim.inspect(self:lua('return require("ralph").status().loops')),
      vim.inspect(self:lua('return vim.api.nvim_buf_get_lines(0, 0, 40, false)'))
    ),
    3
  )
end

--- Waits until a Lua expression in the child is true, and returns its value.
--- In the expression, want is what is given.
function Child:wait(expression, want)
  local value
  local ok = vim.wait(M.patience, function()
    value = self:lua('local want = ... return ' .. expression, want)
    return value and value ~= vim.NIL
  end, 20)
  if not ok then
    self:fail('waiting for ' .. expression)
  end
  return value
end

--- Waits until the user was told something.
function Child:wait_note(pattern)
  return self:wait(
    'vim.iter(notes):find(function(note) return note.message:find(want) end)',
    pattern
  )
end

--- Waits for an event whose data have what is given, and returns its data.
function Child:wait_event(name, data)
  local found = self:wait(
    [[vim.iter(seen):find(function(one)
      return one.name == want.name and vim.iter(want.data):all(function(key, value)
        return one.data[key] == value
      end)
    end)]],
    { name = name, data = data or vim.empty_dict() }
  )
  return found.data
end

--- Lets the plugin look at the buffers of its folder, and waits until it has.
function Child:look()
  self:lua(
    [[
      local list = vim.api.nvim_list_bufs
      _G.looked = false
      vim.api.nvim_list_bufs = function()
        vim.api.nvim_list_bufs, _G.looked = list, true
        return list()
      end
      require('ralph.files').check_all(...)
    ]],
    self.dir
  )
  self:wait('looked')
end

--- The lines of the current buffer as one text.
function Child:text()
  return self:lua('return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")')
end

--- The screen's columns in which the text of the current line begins, and the first of
--- its lines below that.
function Child:wrapped(text)
  self:command('redraw')
  return unpack(self:lua(
    [[
      local line, text = vim.fn.line('.'), vim.fn.getline('.')
      local first, below = vim.fn.screenpos(0, line, (text:find(..., 1, true))), {}
      for col = 1, #text do
        local pos = vim.fn.screenpos(0, line, col)
        if pos.row > first.row then table.insert(below, pos.col) end
      end
      return { first.col, vim.fn.min(below) }
    ]],
    text
  ))
end

--- Waits until a file is there, and returns its text.
function Child:wait_file(name)
  local path = vim.fs.joinpath(self.dir, name)
  local text
  local ok = vim.wait(M.patience, function()
    text = M.read(path)
    return text and text ~= ''
  end, 10)
  assert(ok, 'no ' .. path .. ': ' .. vim.inspect(self:lua('return notes')))
  return text
end

--- The sidecar's process id.
function Child:sidecar()
  local function is_sidecar(pid)
    return vim.uv.fs_readlink(('/proc/%d/exe'):format(pid)) == vim.uv.fs_realpath(vim.env.RALPH_BIN)
  end
  return vim.iter(vim.api.nvim_get_proc_children(self.pid)):find(is_sidecar)
end

--- What the child said of itself: messages, notes and standard error.
function Child:said()
  local messages = self:lua('return vim.api.nvim_exec2("messages", { output = true }).output')
  local notes = self:lua('return vim.tbl_map(function(n) return n.message end, notes)')
  return table.concat(
    { messages, table.concat(notes, '\n'), table.concat(self.errors, '\n') },
    '\n'
  )
end

--- Leaves the child with a command and waits for its end.
function Child:quit(command)
  pcall(vim.rpcnotify, self.channel, 'nvim_command', command or 'qall!')
  local ended = vim.fn.jobwait({ self.channel }, M.patience)[1]
  assert(ended ~= -1, 'nvim did not end')
end

--- Interrupts its loop, which the last Neovim in a folder does when it ends and doesn't come back.
function Child:interrupt()
  self:lua([[require('ralph.client').execute(
    vim.fn.getcwd(), 'ralph.loop.cancel', { when = 'interrupt' }, function() end
  )]])
end

--- Ends a child; what it said must be clean.
function Child:finish()
  if self.exit_code ~= nil or vim.fn.jobwait({ self.channel }, 0)[1] ~= -1 then
    return
  end
  local ok, said = pcall(self.said, self)
  self:quit()
  assert(ok, said)
  for _, bad in ipairs({
    'is deprecated',
    'stack traceback',
    'Error executing',
    'could not be shown',
  }) do
    assert(not said:find(bad, 1, true), 'nvim said: ' .. said)
  end
end

--- Starts a program that ends with the test at the latest.
function M.job(command, options)
  local job = vim.fn.jobstart(command, options)
  assert(job > 0, command[1] .. ' could not be started')
  table.insert(jobs, job)
  return job
end

--- Ends all children and jobs of a test, and fails for the first child that wasn't clean.
function M.end_all()
  for _, job in ipairs(jobs) do
    vim.fn.jobstop(job)
  end
  vim.fn.jobwait(jobs, M.patience)
  jobs = {}
  local ended, problem = children, nil
  children = {}
  for _, child in ipairs(ended) do
    local ok, dirt = pcall(child.finish, child)
    problem = problem or not ok and dirt
  end
  assert(not problem, problem)
end

--- Whether a process is alive.
function M.is_alive(pid)
  local stat = M.read(('/proc/%d/stat'):format(pid))
  return stat ~= nil and not stat:match('%) [ZX] ')
end

return M
