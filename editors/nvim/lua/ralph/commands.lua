--- The subcommands of :Ralph.
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
---@field place? fun(folder: string): string the same with its path and line numbers

---@class ralph.Subcommand
---@field run fun(invocation: ralph.Invocation)
---@field complete? fun(lead: string, before: string): string[] before: what stands between the name and lead

---@param invocation ralph.Invocation
---@return ralph.StartOptions
local function start_options(invocation)
  return { text = invocation.rest, prompt = invocation.lines }
end

local function resume(invocation)
  local loop = status.in_folder(config.folder())
  if invocation.rest == '' and loop and loop.state == 'ended' and loop.offers then
    return require('ralph.ask').about(loop)
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
  vim.ui.input({ prompt = 'Tell the loop: ' }, function(answer)
    if answer and answer ~= '' then
      loops.steer(answer)
    end
  end)
end

local function show_overview()
  require('ralph.overview').open()
end

local function open_state()
  local loop = status.in_folder(config.folder())
  local path = loop and loop.stateFileUri and vim.uri_to_fname(loop.stateFileUri)
    or vim.fs.joinpath(config.folder(), wire.state_file)
  if not vim.uv.fs_stat(path) then
    return notify.info('there is no state file: no loop is active in ' .. config.folder())
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

--- A subcommand about what the loop changed.
---@param module string
---@param name string of its function
---@return ralph.Subcommand
local function review(module, name)
  return {
    run = function(invocation)
      local folder = config.folder()
      local chosen = require('ralph.changes').parse(folder, invocation.rest)
      require('ralph.' .. module)[name](folder, chosen, not invocation.bang)
    end,
    complete = function(lead, before)
      local words = require('ralph.changes').complete(config.folder(), before, name == 'undo')
      return beginning_with(lead, words)
    end,
  }
end

local land_flags = { '--squash', '--rebase', '--message', '--keep', '--discard', '--dry-run' }

---@type table<string, ralph.Subcommand>
M.all = {
  start = {
    run = function(invocation)
      loops.start(start_options(invocation), loops.started)
    end,
    complete = complete_start,
  },
  once = {
    run = function(invocation)
      loops.once(start_options(invocation), loops.started)
    end,
    complete = complete_start,
  },
  prompt = {
    run = function(invocation)
      local folder = config.folder()
      require('ralph.box').open({ text = invocation.rest, folder = folder }, loops.started)
    end,
    complete = complete_start,
  },
  go = {
    run = function()
      require('ralph.box').go(config.folder())
    end,
  },
  cancel = {
    run = function(invocation)
      if invocation.bang then
        loops.cancel_all()
      else
        loops.cancel()
      end
    end,
  },
  pause = {
    run = function()
      loops.pause()
    end,
  },
  next = {
    run = function()
      loops.next()
    end,
  },
  detach = {
    run = function()
      loops.detach()
    end,
  },
  resume = { run = resume, complete = complete_limits },
  update = {
    run = function(invocation)
      loops.update(nil, invocation.rest)
    end,
    complete = complete_limits,
  },
  steer = { run = steer },
  answer = {
    run = function(invocation)
      require('ralph.question').answer(invocation.rest)
    end,
    complete = function(lead)
      return beginning_with(lead, require('ralph.question').complete())
    end,
  },
  status = { run = show_overview },
  output = {
    run = function()
      require('ralph.output').open(config.folder())
    end,
  },
  history = {
    run = function()
      loops.history(nil, function(_, result)
        if result then
          show.history(result.loops)
        end
      end)
    end,
  },
  changes = review('changes', 'quickfix'),
  diff = review('diff', 'open'),
  undo = review('changes', 'undo'),
  redo = {
    run = function()
      require('ralph.changes').redo(config.folder())
    end,
  },
  keep = review('changes', 'keep'),
  land = {
    run = function(invocation)
      loops.land(nil, invocation.rest)
    end,
    complete = function(lead)
      return beginning_with(lead, vim.list_extend(status.branches(), land_flags))
    end,
  },
  problems = {
    run = function()
      require('ralph.problems').quickfix(config.folder())
    end,
  },
  state = { run = open_state },
  pi = {
    run = function()
      loops.history(nil, function(_, result)
        local last = result and result.loops[1]
        if not (last and last.sessionFileUri) then
          return notify.warn('no loop that was kept has ended here')
        end
        loops.plan({ session = last.sessionFileUri }, function(_, plan)
          if plan then
            show.terminal(plan)
          end
        end)
      end)
    end,
  },
  plan = {
    run = function(invocation)
      loops.plan(start_options(invocation), function(_, plan)
        if plan then
          show.terminal(plan)
        end
      end)
    end,
    complete = complete_start,
  },
  log = {
    run = function()
      require('ralph.log').open()
    end,
  },
  messages = {
    run = function()
      show.lines('Ralph messages', notify.history())
      vim.cmd('normal! G')
    end,
  },
  doctor = {
    run = function()
      loops.doctor()
    end,
  },
  help = { run = help },
  restart = {
    run = function()
      require('ralph.client').restart(function(err)
        if err then
          notify.error(err.message)
        else
          notify.info('the sidecar was restarted')
        end
      end)
    end,
  },
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
    invocation.place = function(folder)
      return prompt.place(folder, command.line1, command.line2, invocation.lines)
    end
  end
  subcommand.run(invocation)
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
