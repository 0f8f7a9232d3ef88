--- A loop's updates as lines of text. Lines have numbers that never change;
--- the oldest go when there are too many.
local format = require('ralph.format')
local show = require('ralph.show')
local wire = require('ralph.wire')

--- A tool call that has ended, with what is shown of its output.
---@class ralph.Call
---@field first integer number of its heading
---@field last integer number of its last line
---@field id string
---@field iteration? integer

--- An agent that a tool call has work.
---@class ralph.Agent
---@field call string
---@field label string unlike those of the others at work
---@field line integer number of its heading
---@field message? string id of the one that it is in
---@field alone boolean nobody else was at work meanwhile
---@field held table<string, string> by prefix: the line that it is in the middle of, while others speak

---@class ralph.Transcript
---@field first integer number of the oldest line that is kept
---@field last integer number of the newest line; first - 1 when there is none
---@field iterations { first: integer, last?: integer, heading: string }[] without last it runs
---@field ended boolean no iteration follows
---@field calls ralph.Call[] those with an output
---@field messages { first: integer, last: integer }[] of the agent; the last may go on
---@field agents { first: integer, last: integer }[] what those did that have ended, unless it is mixed
---@field changed table<integer, true> lines that are not as they were; the reader clears it
---@field private lines table<integer, string>
---@field private iteration_number? integer
---@field private max_lines integer
---@field private tool_lines integer
---@field private open string? the message that the last line belongs to
---@field private agent? string who is at work, as it was said
---@field private tools table<string, { line: integer, text: string, bar: string }>
---@field private crew ralph.Agent[] those at work
---@field private tool_line integer number of the last line about a tool
local Transcript = {}
Transcript.__index = Transcript

local kinds = wire.updates

--- What lines begin with: those of tools by their status, those about the loop by
--- the class of what is said.
local marks = {
  in_progress = '●',
  completed = '✓',
  failed = '✗',
  info = '» ',
  warning = '! ',
  error = '! ',
  [kinds.ending] = '■ ',
}

--- What lines begin with: the agent's reasoning, a user's words, a tool's output.
local thought, user, output = '┊ ', '› ', '  │ '

---@param settings ralph.OutputConfig
---@return ralph.Transcript
function Transcript.new(settings)
  return setmetatable({
    first = 1,
    last = 0,
    iterations = {},
    calls = {},
    messages = {},
    agents = {},
    crew = {},
    tool_line = 0,
    ended = false,
    changed = {},
    lines = {},
    max_lines = settings.max_lines,
    tool_lines = settings.tool_lines,
    tools = {},
  }, Transcript)
end

--- Returns lines from one number to another, which must be kept.
---@param from integer
---@param to integer
---@return string[]
function Transcript:slice(from, to)
  local out = {}
  for number = from, to do
    out[#out + 1] = self.lines[number]
  end
  return out
end

--- Forgets the oldest lines: a tenth of all at once, so that it is seldom.
function Transcript:trim()
  if self.last - self.first + 1 <= self.max_lines then
    return
  end
  local first = self.last - math.floor(self.max_lines * 0.9) + 2
  for number = self.first, first - 1 do
    self.lines[number], self.changed[number] = nil, nil
  end
  for _, parts in ipairs({ 'iterations', 'calls', 'messages', 'agents' }) do
    self[parts] = vim.tbl_filter(function(part)
      return part.first >= first
    end, self[parts])
  end
  self.first = first - 1
  self.lines[self.first] = '… older lines are in the session file (:Ralph history)'
  self.changed[self.first] = true
end

---@param text string
---@return integer number
function Transcript:push(text)
  self.last = self.last + 1
  self.lines[self.last] = (text:gsub('[\r\n%z]', ' '))
  self.open = nil
  self:trim()
  return self.last
end

---@param number integer
---@param text string
function Transcript:replace(number, text)
  if number >= self.first and self.lines[number] ~= text then
    self.lines[number] = text
    self.changed[number] = true
  end
end

--- Leaves a blank line, unless there is one.
function Transcript:gap()
  if self.last >= self.first and self.lines[self.last] ~= '' then
    self:push('')
  end
end

--- Adds a piece of a message, to its last line where that goes on.
---@param key string which message
---@param prefix string of each line
---@param text string
function Transcript:append(key, prefix, text)
  local from = 1
  if self.open ~= key then
    self:gap()
    self:push(prefix)
    if prefix == '' then
      table.insert(self.messages, { first = self.last, last = self.last })
    end
  end
  while true do
    local at = text:find('\n', from, true)
    local part = text:sub(from, (at or 0) - 1):gsub('[\r%z]', '')
    if part ~= '' then
      self:replace(self.last, self.lines[self.last] .. part)
    end
    if not at then
      break
    end
    self:push(prefix)
    from = at + 1
  end
  self.open = key
  if prefix == '' and self.messages[1] then
    self.messages[#self.messages].last = self.last
  end
end

--- Whether more may come of a message.
---@param message { first: integer, last: integer }
---@return boolean
function Transcript:is_open(message)
  return self.open ~= nil and message == self.messages[#self.messages]
end

local prefixes = { [kinds.message] = '', [kinds.thought] = thought, [kinds.user] = user }

--- The agent that a call has work now.
---@param call? string
---@return ralph.Agent?
function Transcript:agent_of(call)
  return vim.iter(self.crew):find(function(one)
    return one.call == call
  end)
end

--- What stands before what is below a call: the agent's name, where several are at work.
---@param parent? string
---@return string
function Transcript:bar(parent)
  local agent = self:agent_of(parent)
  if agent and #self.crew > 1 then
    return ('  %s: '):format(agent.label)
  end
  return parent and '  ' or ''
end

--- Notes an agent that begins.
---@param update ralph.Update
---@param line integer
function Transcript:begin_agent(update, line)
  local name = update.subagent.agent or 'agent'
  local label, n = name, 1
  while vim.iter(self.crew):any(function(one)
    return one.label == label
  end) do
    n = n + 1
    label = ('%s #%d'):format(name, n)
  end
  local agent = { call = update.toolCallId, label = label, line = line, alone = true, held = {} }
  table.insert(self.crew, agent)
  if #self.crew > 1 then
    for _, one in ipairs(self.crew) do
      one.alone = false
    end
  end
end

--- Shows what an agent is in the middle of, before something else of its.
---@param call? string
function Transcript:release(call)
  local agent = self:agent_of(call)
  for prefix, text in pairs(agent and agent.held or {}) do
    self:push(self:bar(call) .. prefix .. text)
    agent.held[prefix] = nil
  end
end

--- Takes what one of several agents says: whole lines, so that they don't mix.
---@param agent ralph.Agent
---@param prefix string
---@param text string
function Transcript:hold(agent, prefix, text)
  local lines = vim.split((agent.held[prefix] or '') .. text, '\n', { plain = true })
  for number = 1, #lines - 1 do
    self:push(self:bar(agent.call) .. prefix .. lines[number])
  end
  agent.held[prefix] = lines[#lines] ~= '' and lines[#lines] or nil
end

---@param update ralph.Update
function Transcript:chunk(update)
  local prefix = prefixes[update.sessionUpdate]
  local text = update.content.text or ''
  local agent = self:agent_of(update.parentToolCallId)
  if agent and agent.message ~= update.messageId then
    self:release(agent.call)
    agent.message = update.messageId
  end
  if agent and #self.crew > 1 then
    return self:hold(agent, prefix, text)
  elseif agent and agent.held[prefix] then -- the others have ended meanwhile
    text, agent.held[prefix] = agent.held[prefix] .. text, nil
  end
  if update.parentToolCallId then
    prefix = '  ' .. prefix
  end
  local key = ('%s %s %s'):format(update.sessionUpdate, update.messageId, update.parentToolCallId)
  self:append(key, prefix, text)
end

---@param update ralph.Update
function Transcript:tool_call(update)
  self:release(update.parentToolCallId)
  local title = update.title ~= update.name and '  ' .. update.title or ''
  local text = update.subagent and update.title or update.name .. title
  text = '%s ' .. text:gsub('%%', '%%%%')
  local bar = self:bar(update.parentToolCallId)
  local is_below = self.tool_line == self.last
    or (self.lines[self.last] or ''):match('^ *[●✓✗]')
  if not is_below and bar:find('^ *$') then
    self:gap()
  end
  local line = self:push(bar .. text:format(marks.in_progress))
  self.tool_line = line
  self.tools[update.toolCallId] = { line = line, text = text, bar = bar }
  if update.subagent then
    self:begin_agent(update, line)
  end
end

--- Ends an agent: what it did can be folded, where no other's is between.
---@param agent ralph.Agent
---@return boolean said something is below it: its last words needn't come again
function Transcript:end_agent(agent)
  self:release(agent.call)
  self.crew = vim.tbl_filter(function(one)
    return one ~= agent
  end, self.crew)
  if agent.alone and self.last > agent.line then
    table.insert(self.agents, { first = agent.line, last = self.last })
  end
  return self.last > agent.line
end

--- Whether the line that says what was left out is among those that are shown.
---@param lines string[]
---@param from integer the first that is
---@return boolean
local function says_omitted(lines, from)
  for number = from, #lines do
    if lines[number]:find('^… .* left out …$') then
      return true
    end
  end
  return false
end

--- Adds the end of a tool's output, and how many lines stand before it.
---@param text string
---@param omitted? { lines: integer } what the sidecar has left out of it, in a line of its own
function Transcript:tool_output(text, omitted)
  local shown = text:gsub('^%s*\n', ''):gsub('%s+$', '') -- the indentation stays
  local lines = vim.split(shown, '\n', { plain = true })
  if #lines == 1 and lines[1] == '' then
    return
  end
  local from = math.max(1, #lines - self.tool_lines + 1)
  local before = from - 1
  if omitted and not says_omitted(lines, from) then
    before = before - 1 + omitted.lines
  end
  if before > 0 then
    self:push(('%s… %s'):format(output, format.count(before, 'line')))
  end
  for number = from, #lines do
    self:push(output .. lines[number])
  end
end

---@param update ralph.Update
function Transcript:tool_call_update(update)
  local tool = self.tools[update.toolCallId]
  if update.status == 'in_progress' or not tool then
    return
  end
  self.tools[update.toolCallId] = nil
  self:release(update.parentToolCallId)
  local heading = tool.bar .. tool.text:format(marks[update.status] or marks.failed)
  if update.facts then
    heading = heading .. ' · ' .. update.facts
  end
  self:replace(tool.line, heading)
  local agent = self:agent_of(update.toolCallId)
  if agent and self:end_agent(agent) and update.status == 'completed' then
    if not agent.alone then
      self.tool_line = self:push(heading) -- where it ended
    end
    return
  elseif #(update.content or {}) == 0 then
    return
  end
  local first = tool.line
  if self.last ~= first then
    first = self:push(heading) -- others began meanwhile
  end
  for _, content in ipairs(update.content) do
    self:tool_output(content.content and content.content.text or '', update.omitted)
  end
  table.insert(self.calls, {
    first = first,
    last = self.last,
    id = update.toolCallId,
    iteration = self.iteration_number,
  })
end

---@param update ralph.Update
function Transcript:iteration(update)
  if update.phase == 'begin' then
    self:gap()
    self.ended, self.tools, self.crew = false, {}, {} -- the ids of tools and messages begin again
    self.iteration_number = update.iteration
    local heading = '▌ ' .. update.text
    table.insert(self.iterations, { first = self:push(heading), heading = heading })
    return
  end
  local iteration = self.iterations[#self.iterations]
  if iteration then -- else it began before all that is kept
    self:replace(iteration.first, iteration.heading .. ' · ' .. update.facts)
    iteration.last = self.last
  end
end

--- Adds a line about the loop itself.
---@param text string
function Transcript:note(text)
  self:gap()
  for _, line in ipairs(vim.split(vim.trim(text), '\n', { plain = true })) do
    self:push(line)
  end
end

--- Adds an update.
---@param update ralph.Update
function Transcript:add(update)
  local kind = update.sessionUpdate
  if prefixes[kind] then
    self:chunk(update)
  elseif kind == kinds.tool_call then
    self:tool_call(update)
  elseif kind == kinds.tool_call_update then
    self:tool_call_update(update)
  elseif kind == kinds.iteration then
    self:iteration(update)
  elseif kind == kinds.note then
    self:note(('%s%s %s'):format(marks.info, update.label, update.text or ''))
  elseif update.text and not (kind == kinds.session and update.text == self.agent) then
    self.agent = kind == kinds.session and update.text or self.agent
    self.ended = self.ended or kind == kinds.ending
    self:note((marks[kind] or marks[update.class] or marks.info) .. update.text)
    for _, line in ipairs(show.rows(update.receipt or {})) do
      self:push('  ' .. line)
    end
  end
end

return Transcript
