--- What the sidecar says and hears. A test compares the names with
--- testdata/wire/names.json.
local M = {}

--- The version of our own part of the protocol.
M.version = 2

M.methods = {
  status = 'ralph/status',
  update = 'ralph/update',
}

--- Ids of workspace/executeCommand.
M.commands = {
  start = 'ralph.loop.start',
  cancel = 'ralph.loop.cancel',
  pause = 'ralph.loop.pause',
  resume = 'ralph.loop.resume',
  update = 'ralph.loop.update',
  steer = 'ralph.loop.steer',
  open = 'ralph.loop.open',
  status = 'ralph.loop.status',
  output = 'ralph.loop.output',
  read = 'ralph.loop.read',
  history = 'ralph.loop.history',
  transcript = 'ralph.loop.transcript',
  plan = 'ralph.plan',
  help = 'ralph.help',
  doctor = 'ralph.doctor',
}

--- The values of "sessionUpdate".
M.updates = {
  message = 'agent_message_chunk',
  user = 'user_message_chunk', -- only of transcripts
  thought = 'agent_thought_chunk',
  tool_call = 'tool_call',
  tool_call_update = 'tool_call_update',
  usage = 'usage_update',
  session = '_ralph/session',
  discard = '_ralph/discard',
  iteration = '_ralph/iteration',
  state = '_ralph/state',
  retry = '_ralph/retry',
  compaction = '_ralph/compaction',
  topic = '_ralph/topic',
  goal = '_ralph/goal',
  promise = '_ralph/promise',
  guidance = '_ralph/guidance',
  limits = '_ralph/limits',
  warning = '_ralph/warning',
  error = '_ralph/error',
  ending = '_ralph/end',
  note = '_ralph/note', -- only of transcripts
}

--- The values of data.reason in a command's error.
M.reasons = {
  already_running = 'already_running',
  not_running = 'not_running',
  backend_not_found = 'backend_not_found',
  untrusted = 'untrusted',
  state_locked = 'state_locked',
  bad_state_file = 'bad_state_file',
  bad_config = 'bad_config',
  empty_prompt = 'empty_prompt',
  bad_prompt = 'bad_prompt',
  limit_reached = 'limit_reached',
  no_folder = 'no_folder',
  no_session = 'no_session',
  interrupted = 'interrupted',
}

--- Where a loop's state is kept, below its folder.
M.state_file = '.pi/ralph-loop.local.md'

--- What there is to know of a loop in each of its states.
---@type table<string, { live?: boolean, busy?: boolean, left?: boolean, word?: string }>
M.states = {
  starting = { live = true, busy = true, word = 'starting' },
  running = { live = true, busy = true },
  cancelling = { live = true, busy = true, word = 'stopping' },
  waiting = { live = true, word = 'waiting' },
  paused = { live = true, word = 'paused' },
  interrupted = { left = true, word = 'interrupted' },
  failed = { left = true, word = 'failed' },
  ended = { word = 'ended' },
}

local none = {}

---@param loop ralph.Loop
local function facts(loop)
  return M.states[loop.state] or none
end

--- Whether an agent is at work.
---@param loop ralph.Loop
---@return boolean
function M.is_busy(loop)
  return facts(loop).busy == true
end

--- Whether a loop will go on, by itself or when it is told to.
---@param loop ralph.Loop
---@return boolean
function M.is_live(loop)
  return facts(loop).live == true
end

--- Whether nobody drives a loop that can be continued or discarded.
---@param loop ralph.Loop
---@return boolean
function M.is_left(loop)
  return facts(loop).left == true
end

--- What a loop's state is called, where an agent isn't at work.
---@param loop ralph.Loop
---@return string?
function M.word(loop)
  return facts(loop).word
end

--- The path of a loop's folder.
---@param loop ralph.Loop
---@return string
function M.folder(loop)
  return vim.uri_to_fname(loop.folder)
end

return M
