--- What the sidecar says and hears. A test compares the names with
--- testdata/wire/names.json.
local M = {}

--- The version of our own part of the protocol.
M.version = 2

M.methods = {
  status = 'ralph/status',
  update = 'ralph/update',
  diagnostics = 'ralph/diagnostics',
  permission = 'ralph/permission',
}

--- Ids of workspace/executeCommand.
M.commands = {
  start = 'ralph.loop.start',
  cancel = 'ralph.loop.cancel',
  pause = 'ralph.loop.pause',
  next = 'ralph.loop.next',
  detach = 'ralph.loop.detach',
  resume = 'ralph.loop.resume',
  update = 'ralph.loop.update',
  steer = 'ralph.loop.steer',
  answer = 'ralph.loop.answer',
  status = 'ralph.loop.status',
  read = 'ralph.loop.read',
  output = 'ralph.loop.output',
  history = 'ralph.loop.history',
  prompts = 'ralph.loop.prompts',
  changes = 'ralph.loop.changes',
  file = 'ralph.loop.file',
  undo = 'ralph.loop.undo',
  redo = 'ralph.loop.redo',
  keep = 'ralph.loop.keep',
  land = 'ralph.loop.land',
  plan = 'ralph.plan',
  mark = 'ralph.plan.mark',
  doctor = 'ralph.doctor',
}

--- The values of "sessionUpdate" that are more than words to show.
M.updates = {
  message = 'agent_message_chunk',
  user = 'user_message_chunk', -- only of transcripts
  thought = 'agent_thought_chunk',
  tool_call = 'tool_call',
  tool_call_update = 'tool_call_update',
  usage = 'usage_update',
  session = '_ralph/session',
  iteration = '_ralph/iteration',
  verify = '_ralph/verify',
  ending = '_ralph/end',
  note = '_ralph/note',
}

--- The values of data.reason in a command's error that have an answer of their own.
M.reasons = {
  empty_prompt = 'empty_prompt',
  no_session = 'no_session',
  no_question = 'no_question',
}

--- Where a loop's state is kept, below its folder.
M.state_file = '.pi/ralph-loop.local.md'

--- The path of a loop's folder.
---@param loop ralph.Loop
---@return string
function M.folder(loop)
  return vim.uri_to_fname(loop.folder)
end

--- Whether a loop is of another machine: its files aren't here.
---@param loop ralph.Loop?
---@return boolean
function M.is_afar(loop)
  return loop ~= nil and loop.host ~= nil
end

return M
