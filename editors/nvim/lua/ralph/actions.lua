--- What can be done with a loop by one key, in its output and in the overview.
local ask = require('ralph.ask')
local config = require('ralph.config')
local loops = require('ralph.loops')
local notify = require('ralph.notify')
local wire = require('ralph.wire')

local M = {}

--- Asks before something ends.
---@param question string
---@param loop ralph.Loop
---@param choice string
---@param act fun()
local function confirm(question, loop, choice, act)
  local prompt = ('%s %s? (%s)'):format(question, loop.title, loop.line)
  ask.choose(prompt, { { choice, act } })
end

--- Runs one of the sidecar's commands for a loop.
---@param command string its name in wire.commands
---@param loop ralph.Loop
---@param more? table of its argument
local function execute(command, loop, more)
  local target = { loopId = loop.loopId, folder = loop.folder }
  local argument = vim.tbl_extend('force', target, more or {})
  loops.run(wire.folder(loop), wire.commands[command], argument)
end

---@type table<string, fun(loop: ralph.Loop, folder: string)>
local acts = {}

for _, name in ipairs({ 'pause', 'next', 'detach' }) do
  acts[name] = function(loop)
    execute(name, loop)
  end
end

function acts.changes(loop, folder)
  local changes = require('ralph.changes')
  if wire.is_afar(loop) then -- its files aren't here
    return changes.patch(folder)
  end
  changes.quickfix(folder, {})
end

function acts.cancel(loop)
  confirm('Cancel', loop, 'Cancel it', function()
    execute('cancel', loop)
  end)
end

function acts.resume(loop)
  if loop.offers then
    return ask.about(loop)
  end
  execute('resume', loop)
end

function acts.steer(loop)
  ask.text(('Tell %s: '):format(loop.title), function(text)
    execute('steer', loop, { text = text })
  end)
end

function acts.update(loop)
  ask.text(('Limits of %s (80, +10, --max-cost=5): '):format(loop.title), function(text)
    execute('update', loop, { text = text })
  end)
end

function acts.answer(_, folder)
  require('ralph.question').enter(folder)
end

function acts.take_back(loop, folder)
  local offers = {}
  for _, allowed in ipairs(loop.allowed or {}) do
    for _, offer in ipairs(allowed.offers) do
      local title = ('%s: %s'):format(offer.title, allowed.text)
      table.insert(offers, vim.tbl_extend('force', offer, { title = title }))
    end
  end
  if #offers == 0 then
    return notify.info(('nothing is allowed for all of %s'):format(loop.title))
  end
  ask.offer(('What the agent of %s may do'):format(loop.title), folder, offers)
end

function acts.discard(loop)
  confirm('Discard', loop, 'Discard it', function()
    execute('cancel', loop, { when = 'left' })
  end)
end

function acts.open(loop)
  vim.cmd.split(vim.fn.fnameescape(vim.uri_to_fname(loop.stateFileUri)))
end

function acts.start(_, folder)
  loops.start({ folder = folder }, loops.started)
end

--- The keys: what is typed, what it is called, what it does, and the word in `can`
--- that allows it; without one it is allowed for all loops.
local list = {
  { 'C', 'what it changed, in the quickfix list', acts.changes },
  { 'c', 'cancel', acts.cancel, 'cancel' },
  { 'p', 'pause', acts.pause, 'pause' },
  { 'i', 'end this iteration, begin the next', acts.next, 'next' },
  { 'd', 'detach: it goes on without Neovim', acts.detach, 'detach' },
  { 'r', 'resume, or what can be done about its end', acts.resume, 'resume' },
  { 'a', 'answer what its agent asks', acts.answer, 'answer' },
  { 'A', 'take back what its agent may do', acts.take_back, 'update' },
  { 's', 'steer: tell it something', acts.steer, 'steer' },
  { 'u', 'update the limits', acts.update, 'update' },
  { 'x', 'discard', acts.discard, 'discard' },
  { 'e', 'edit the state file', acts.open, 'open' },
  { 'S', 'start a loop', acts.start, 'start' },
}

---@param loop ralph.Loop?
---@param can string? nil: for all loops
---@return boolean
local function is_allowed(loop, can)
  if not loop then
    return can == 'start'
  end
  return not can or vim.list_contains(loop.can or {}, can) or can == 'resume' and loop.offers ~= nil
end

--- The keys of a buffer that is about a loop, or about one at a time.
---@param current fun(): ralph.Loop? the one that a key is about; nil: none is there
---@param folder? fun(): string where a loop is started while none is there
---@return ralph.Key[]
function M.keys(current, folder)
  return vim.tbl_map(function(one)
    local lhs, name, act, can = unpack(one)
    local function run()
      local loop = current()
      if is_allowed(loop, can) then
        act(loop, loop and wire.folder(loop) or config.folder(folder and folder()))
      elseif loop then
        notify.info(("can't %s %s: %s"):format(can, loop.title, loop.text))
      else
        notify.info('there is no loop here')
      end
    end
    local function wanted()
      return is_allowed(current(), can)
    end
    return { lhs, name, run, wanted = wanted }
  end, list)
end

return M
