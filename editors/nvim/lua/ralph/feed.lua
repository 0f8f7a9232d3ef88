--- Takes what the sidecar says and hands it on, in slices so short that typing
--- never waits.
local events = require('ralph.events')
local notify = require('ralph.notify')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

local slice = 6 * 1000000 -- nanoseconds of work at a time
local pause = 4 -- milliseconds between two slices
local max_waiting = 8 -- notifications, of at most 64 KiB each

---@type ralph.UpdateParams[] what isn't handled yet, from number first to last
local queue = {}
local first, last = 1, 0
local position = 1 -- of the next update in the first batch
local scheduled = false

---@type table<string, ralph.UpdateParams[]> of loops whose folder isn't known yet
local held = {}

---@type table<string, string> folders by loop id
local folders = {}

---@type table<string, true> loops of which something was heard
local heard = {}

---@type table<string, string> how the loops ended that were told to be over
local over = {}

---@type table<string, true> updates that the user is told beside the output
local told = {
  [wire.updates.goal] = true,
  [wire.updates.promise] = true,
  [wire.updates.warning] = true,
}

---@param source ralph.Source
---@param update ralph.Update
local function handle(source, update)
  if not heard[source.loopId] then
    heard[source.loopId] = true
    require('ralph.past').begin(source)
    events.fire('Started', source)
  end
  require('ralph.output').update(source, update)
  require('ralph.files').update(source, update)
  events.update(source, update)
  if told[update.sessionUpdate] then
    notify.said('Ralph: ', update, true)
    require('ralph.ask').offered(source, update)
  end
  if update.sessionUpdate == wire.updates.ending then
    heard[source.loopId] = nil -- a loop that goes on is told anew
    notify.said('Ralph ', update)
  end
end

--- Handles what waits until the slice is over.
local function drain()
  scheduled = false
  local deadline = vim.uv.hrtime() + slice
  while first <= last do
    local batch = queue[first]
    local source = {
      loopId = batch.loopId,
      folder = folders[batch.loopId],
      iteration = batch.iteration,
    }
    if position == 1 and (batch.dropped or 0) > 0 then
      require('ralph.output').dropped(source, batch.dropped)
    end
    while position <= #batch.updates do
      local update = batch.updates[position]
      position = position + 1
      local ok, problem = pcall(handle, source, update)
      if not ok then
        notify.error('an update could not be shown: ' .. tostring(problem))
      end
      if vim.uv.hrtime() > deadline then
        scheduled = true
        vim.defer_fn(drain, pause)
        return
      end
    end
    queue[first] = nil
    first, position = first + 1, 1
  end
end

--- Whether so much waits to be handled that no more should come.
---@return boolean
function M.is_behind()
  return last - first >= max_waiting
end

local function enqueue(params)
  last = last + 1
  queue[last] = params
  if not scheduled then
    scheduled = true
    vim.schedule(drain)
  end
end

--- Takes a ralph/update notification.
---@param params ralph.UpdateParams
function M.update(params)
  if folders[params.loopId] then
    enqueue(params)
  else
    held[params.loopId] = held[params.loopId] or {}
    table.insert(held[params.loopId], params)
  end
end

--- Learns where a loop runs, and lets go what was held for it.
---@param loop_id string
---@param folder string
function M.learn(loop_id, folder)
  folders[loop_id] = folder
  local batches = held[loop_id] or {}
  held[loop_id] = nil
  for _, params in ipairs(batches) do
    enqueue(params)
  end
end

--- Tells once of a loop that is over and about which something can be done.
---@param loop ralph.Loop
local function tell_over(loop)
  local key = loop.loopId or loop.folder
  local how = not loop.live and loop.state .. (loop.endedAt or '') or nil
  if over[key] == how then
    return
  end
  over[key] = how
  if loop.state == 'interrupted' then
    local source = { loopId = loop.loopId, folder = wire.folder(loop), iteration = loop.iteration }
    events.fire('Interrupted', source)
  end
  if loop.offers then
    require('ralph.ask').over(loop)
  end
end

--- Takes a ralph/status notification.
---@param params ralph.Status
function M.status(params)
  status.set(params)
  for _, loop in ipairs(params.loops) do
    if loop.loopId then
      M.learn(loop.loopId, wire.folder(loop))
    end
    tell_over(loop)
  end
end

--- Learns that the sidecar is gone.
---@param crashed boolean nobody asked it to end
---@param code integer exit code
---@param signal integer
function M.closed(crashed, code, signal)
  local ours = status.ours()
  status.clear()
  held, heard, over = {}, {}, {}
  require('ralph.past').closed()
  if not crashed then
    return
  end
  for _, loop in ipairs(ours) do
    local source = { loopId = loop.loopId, folder = wire.folder(loop), iteration = loop.iteration }
    events.fire('Interrupted', source)
  end
  require('ralph.ask').crashed(code, signal, ours)
end

return M
