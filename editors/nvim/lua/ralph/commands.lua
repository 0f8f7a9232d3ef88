--- What can be done, as :Ralph NAME and as require('ralph').NAME: one table has both.
local ask = require('ralph.ask')
local config = require('ralph.config')
local loops = require('ralph.loops')
local notify = require('ralph.notify')
local show = require('ralph.show')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

---@class ralph.Invocation
---@field rest string what follows the subcommand, as it was typed
---@field bang boolean
---@field lines? string the text of the range
---@field first? integer of the range
---@field last? integer
---@field place? fun(folder: string): string the same with its path and line numbers

---@class ralph.Subcommand
---@field call fun(...) the function; without arguments it is about the current folder
---@field run? fun(invocation: ralph.Invocation) the command, where that isn't the function without arguments
---@field complete? fun(lead: string, before: string): string[] before: what stands between the name and lead

--- The path of a folder as a caller wrote it.
local path_of = config.written_folder

---@param options? ralph.StartOptions
---@return ralph.StartOptions
local function with_path(options)
  return vim.tbl_extend('force', options or {}, { folder = path_of((options or {}).folder) })
end

---@param invocation ralph.Invocation
---@return ralph.StartOptions
local function start_options(invocation)
  return { text = invocation.rest, prompt = invocation.lines }
end

local function resume(invocation)
  local loop = status.in_folder(config.folder())
  if invocation.rest == '' and loop and loop.state == 'ended' and loop.offers then
    return ask.about(loop)
  end
  loops.resume(nil, invocation.rest)
end

local function steer(invocation)
  local place = invocation.place and invocation.place(config.folder())
  local parts = vim.tbl_filter(function(part)
    return part ~= ''
  end, { invocation.rest, place })
  if #parts > 0 then
    return loops.steer(table.concat(parts, '\n\n'))
  end
  ask.text('Tell the loop: ', loops.steer)
end

local function remark(invocation)
  local remarks = require('ralph.remarks')
  if invocation.bang then
    return remarks.send(config.folder())
  elseif invocation.rest == '' and not invocation.first then
    return remarks.list()
  end
  local here = vim.fn.line('.')
  local first, last = invocation.first or here, invocation.last or here
  if invocation.rest ~= '' then
    return remarks.add(first, last, invocation.rest)
  end
  ask.text('What should the agent know about it? ', function(text)
    remarks.add(first, last, text)
  end)
end

local function show_overview()
  require('ralph.overview').open()
end

---@param folder? string
local function open_state(folder)
  folder = path_of(folder)
  local loop = status.in_folder(folder)
  local path = loop and loop.stateFileUri and vim.uri_to_fname(loop.stateFileUri)
    or vim.fs.joinpath(folder, wire.state_file)
  if not vim.uv.fs_stat(path) then
    return notify.info('there is no state file: no loop is active in ' .. folder)
  end
  vim.cmd.edit(vim.fn.fnameescape(path))
end

local function help()
  if pcall(vim.cmd.help, 'ralph') then
    return
  end
  local doc = vim.api.nvim_get_runtime_file('doc/ralph.txt', false)[1]
  if doc and pcall(vim.cmd.helptags, vim.fn.fnameescape(vim.fs.dirname(doc))) then
    return vim.cmd.help('ralph') -- nobody had made the tags
  end
  vim.cmd.view(vim.fn.fnameescape(doc))
end

---@param lead string
---@param all string[]
---@return string[]
local function beginning_with(lead, all)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, all)
end

--- Flags and their values, as the program completes them for a shell.
---@param texts 'start-text'|'limits-text' the texts that have them
---@param lead string
---@return string[]
local function complete_flag(texts, lead)
  local flag, value = lead:match('^(%-%-[%w-]+=)(.*)$')
  local words
  if flag == '--backend=' and value:match('[/\\]') then
    words = vim.fn.getcompletion(value, 'file')
  else
    local argv =
      { require('ralph.binary').completer(), '__complete', texts, lead == '' and '-' or lead }
    local ok, result = pcall(function()
      return vim.system(argv, { text = true, cwd = config.folder(), timeout = 2000 }):wait()
    end)
    words = vim.split(ok and result.stdout or '', '\n', { trimempty = true })
    table.remove(words) -- what a shell is to do
  end
  return vim.tbl_map(function(word)
    local behind = word:match('\t(=)$') or '' -- of a flag that must have a value
    return (flag or '') .. word:match('^[^\t]*') .. behind
  end, beginning_with(value or lead, words))
end

---@param lead string
---@return string[]
local function complete_start(lead)
  if lead == '' or vim.startswith(lead, '-') then
    return complete_flag('start-text', lead)
  end
  return vim.fn.getcompletion(lead, 'file')
end

---@param lead string
---@return string[]
local function complete_limits(lead)
  return complete_flag('limits-text', lead)
end

--- About what the loop changed: the function gets "[n] [path]" as it is typed.
---@param module string
---@param name string of its function
---@return ralph.Subcommand
local function review(module, name)
  local function call(text, folder, kept)
    folder = path_of(folder)
    local chosen = require('ralph.changes').parse(folder, text or '')
    require('ralph.' .. module)[name](folder, chosen, kept ~= false)
  end
  return {
    call = call,
    run = function(invocation)
      call(invocation.rest, nil, not invocation.bang)
    end,
    complete = function(lead, before)
      local words = require('ralph.changes').complete(config.folder(), before, name == 'undo')
      return beginning_with(lead, words)
    end,
  }
end

--- About a folder's loop: the function gets the folder, and a callback.
---@param module string
---@param name string of its function
---@return ralph.Subcommand
local function of_folder(module, name)
  return {
    call = function(folder, callback)
      require('ralph.' .. module)[name](path_of(folder), callback)
    end,
  }
end

--- The sidecar's command of that name, about a folder's loop: the function gets the folder,
--- and a callback.
---@param name string
---@return ralph.Subcommand
local function of_sidecar(name)
  return {
    call = function(folder, callback)
      loops.run(path_of(folder), wire.commands[name], {}, callback)
    end,
  }
end

--- A start: the function gets options, and a callback.
---@param act fun(options: ralph.StartOptions, callback?: ralph.Callback)
---@param told? ralph.Callback of the command
---@return ralph.Subcommand
local function start_by(act, told)
  return {
    call = function(options, callback)
      act(with_path(options), callback)
    end,
    run = function(invocation)
      act(with_path(start_options(invocation)), told)
    end,
    complete = complete_start,
  }
end

--- The agent's own interface, in a terminal.
---@param options table
---@param callback? ralph.Callback gets its command line in place of the terminal
local function plan(options, callback)
  loops.plan(options, callback or function(_, made)
    if made then
      show.terminal(made)
    end
  end)
end

---@param folder? string
---@param callback? ralph.Callback gets the loops in place of the user
local function history(folder, callback)
  loops.run(path_of(folder), wire.commands.history, {}, callback or function(_, result)
    if result then
      show.history(result.loops)
    end
  end)
end

--- Goes on with the session of the loop that ended last, in pi.
---@param folder? string
local function continue_in_pi(folder)
  folder = path_of(folder)
  loops.run(folder, wire.commands.history, {}, function(_, result)
    local last = result and result.loops[1]
    if not (last and last.sessionFileUri) then
      return notify.warn('no loop that was kept has ended here')
    end
    plan({ session = last.sessionFileUri, folder = folder })
  end)
end

---@param callback? fun(err: ralph.Error?)
local function restart(callback)
  require('ralph.client').restart(callback or function(err)
    if err then
      notify.error(err.message)
    else
      notify.info('the sidecar was restarted')
    end
  end)
end

local land_flags = { '--squash', '--rebase', '--message', '--keep', '--discard', '--dry-run' }

---@type table<string, ralph.Subcommand>
M.all = {
  start = start_by(loops.start, loops.started),
  once = start_by(loops.once, loops.started),
  prompt = start_by(function(options, callback)
    options.prompt = nil -- it is written there
    require('ralph.box').open(options, callback)
  end, loops.started),
  plan = start_by(plan),
  go = of_folder('box', 'go'),
  cancel = vim.tbl_extend('error', of_sidecar('cancel'), {
    run = function(invocation)
      if invocation.bang then
        return loops.cancel_all()
      end
      loops.run(nil, wire.commands.cancel, {})
    end,
  }),
  pause = of_sidecar('pause'),
  next = of_sidecar('next'),
  detach = of_sidecar('detach'),
  resume = {
    call = function(folder, callback, limits)
      loops.resume(path_of(folder), limits, callback)
    end,
    run = resume,
    complete = complete_limits,
  },
  update = {
    call = function(limits, folder, callback)
      loops.update(path_of(folder), limits, callback)
    end,
    run = function(invocation)
      loops.update(nil, invocation.rest)
    end,
    complete = complete_limits,
  },
  steer = {
    call = function(text, folder, callback)
      loops.steer(text, path_of(folder), callback)
    end,
    run = steer,
  },
  remark = {
    call = function(about)
      about = about or {}
      local first = about.first or about.last
      local lines = { first = first, last = about.last or first }
      remark(vim.tbl_extend('error', lines, { rest = about.text or '', bang = about.send }))
    end,
    run = remark,
  },
  answer = {
    call = function(text)
      require('ralph.question').answer(text or '')
    end,
    run = function(invocation)
      require('ralph.question').answer(invocation.rest)
    end,
    complete = function(lead)
      return beginning_with(lead, require('ralph.question').complete())
    end,
  },
  status = {
    call = function()
      return vim.deepcopy(status.get())
    end,
    run = show_overview,
  },
  output = of_folder('output', 'open'),
  history = { call = history },
  changes = review('changes', 'quickfix'),
  diff = review('diff', 'open'),
  undo = review('changes', 'undo'),
  redo = of_folder('changes', 'redo'),
  keep = review('changes', 'keep'),
  land = {
    call = function(text, folder, callback)
      loops.land(path_of(folder), text or '', callback)
    end,
    run = function(invocation)
      loops.land(nil, invocation.rest)
    end,
    complete = function(lead)
      return beginning_with(lead, vim.list_extend(status.branches(), land_flags))
    end,
  },
  problems = of_folder('problems', 'quickfix'),
  state = { call = open_state },
  pi = { call = continue_in_pi },
  log = {
    call = function()
      require('ralph.log').open()
    end,
  },
  messages = {
    call = function()
      show.lines('Ralph messages', notify.history())
      vim.cmd('normal! G')
    end,
  },
  doctor = of_sidecar('doctor'),
  help = { call = help },
  restart = { call = restart },
}

---@return string[]
local function names()
  local list = vim.tbl_keys(M.all)
  table.sort(list)
  return list
end

--- Runs :Ralph.
---@param command vim.api.keyset.create_user_command.command_args
---@param selected boolean the range is '<,'> on a command line
function M.run(command, selected)
  local name, bang, rest = command.args:match('^%s*([%w_-]*)(!?)%s*(.-)%s*$')
  if name == '' then
    name = 'status'
  end
  local subcommand = M.all[name]
  if not subcommand then
    local near = vim.fn.matchfuzzy(names(), name)[1]
    local hint = near and (', did you mean %s?'):format(near)
      or ': there are ' .. table.concat(names(), ', ')
    return notify.error(('there is no :Ralph %s%s'):format(name, hint))
  end
  local invocation = { rest = rest, bang = bang == '!' or command.bang }
  if command.range > 0 then
    local prompt = require('ralph.prompt')
    invocation.lines = prompt.lines(command.line1, command.line2, selected)
    invocation.first, invocation.last = command.line1, command.line2
    invocation.place = function(folder)
      return prompt.place(folder, command.line1, command.line2, invocation.lines)
    end
  end
  if subcommand.run then
    subcommand.run(invocation)
  else
    subcommand.call()
  end
end

--- Completes :Ralph.
---@param lead string the word that is typed
---@param line string the whole command line
---@return string[]
function M.complete(lead, line)
  local name, rest = line:match('%f[%a]R%a*!?%s+(%w+)!?%s+(.*)$') -- commands may be abbreviated
  if not name then
    return beginning_with(lead, names())
  end
  local subcommand = M.all[name]
  return subcommand and subcommand.complete and subcommand.complete(lead, rest:sub(1, -#lead - 1))
    or {}
end

return M
