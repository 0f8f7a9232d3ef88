--- Takes what the sidecar says and hands it on, in slices so short that typing
--- never waits.
local events = require('ralph.events')
local notify = require('ralph.notify')
local Reader = require('ralph.reader')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

local none = {}

local slice = 6 * 1000000 -- nanoseconds of work at a time
local pause = 4 -- milliseconds between two slices
local max_waiting = 8 -- notifications, of at most 64 KiB each

---@class ralph.Piece of a log
---@field updates ralph.Update[]
---@field begin? fun() called before the first is handled
---@field handle fun(update: ralph.Update)
---@field done? fun()

---@type ralph.Piece[] what isn't handled yet, from number first to last
local queue = {}
local first, last = 1, 0
local position = 1 -- of the next update in the first piece
local scheduled = false

---@class ralph.Known
---@field folder string
---@field owned boolean its output is read from its beginning, whether somebody looks at it or not
---@field afar boolean it runs on another machine: nothing of it is told but shown
---@field live boolean

---@type table<string, ralph.Known> loops that the status told of, by id
local known = {}

---@type table<string, ralph.UpdateParams> by loop: the last that was heard before its status
local early = {}

---@type table<string, ralph.Reader> by folder
local readers = {}

---@type table<string, ralph.Source> of which something was heard, by loop
local heard = {}

---@type table<string, string> how the loops ended that were told to be over
local over = {}

--- Reloads what an update of a loop has changed, and tells what it says.
---@param source ralph.Source
---@param update ralph.Update
local function tell(source, update)
  if not heard[source.loopId] then
    heard[source.loopId] = source
    events.fire('Started', source)
  end
  require('ralph.files').update(source, update)
  events.update(source, update)
  local name = status.name(status.by_id(source.loopId))
  if update.sessionUpdate == wire.updates.ending then
    heard[source.loopId] = nil -- a loop that goes on is told anew
    notify.said(name .. ' ', update)
  elseif update.notify then
    notify.said(name .. ': ', update, true, require('ralph.problems').hint(update))
    require('ralph.ask').offered(source, update)
  end
end

---@param source ralph.Source
---@param update ralph.Update
local function place(source, update)
  if update.sessionUpdate == wire.updates.iteration then
    source.iteration = update.iteration
  end
end

--- Handles what waits until the slice is over.
local function drain()
  scheduled = false
  local deadline = vim.uv.hrtime() + slice
  while first <= last do
    local piece = queue[first]
    if position == 1 and piece.begin then
      piece.begin()
    end
    while position <= #piece.updates do
      local update = piece.updates[position]
      position = position + 1
      local ok, problem = pcall(piece.handle, update)
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
    if piece.done then
      piece.done()
    end
  end
end

--- Whether so much waits to be handled that no more should come.
---@return boolean
function M.is_behind()
  return last - first >= max_waiting
end

--- Handles a piece of a log when its turn comes.
---@param piece ralph.Piece
function M.enqueue(piece)
  last = last + 1
  queue[last] = piece
  if not scheduled then
    scheduled = true
    vim.schedule(drain)
  end
end

--- The reader of a folder: of the loop that runs there, or ran there last.
---@param folder string
---@return ralph.Reader
local function reader_of(folder)
  local source = { folder = folder }
  readers[folder] = readers[folder]
    or Reader.new(folder, function(page)
      local is_told = false
      M.enqueue({
        updates = page.updates,
        begin = function()
          if page.begins then
            source.iteration = nil
            require('ralph.output').reset(folder)
          end
          source.loopId = page.loopId
          local loop = known[page.loopId] -- none: no status told of it yet
          is_told = loop and (loop.owned or page.is_news and not loop.afar) or false
        end,
        handle = function(update)
          place(source, update)
          require('ralph.output').update(source, update)
          if is_told then
            tell(source, update)
          end
        end,
        done = page.done,
      })
    end)
  return readers[folder]
end

--- Reads what there is of a folder's loop and wasn't heard.
---@param folder string
---@param callback fun(err: ralph.Error?)
function M.read(folder, callback)
  reader_of(folder):read({ folder = vim.uri_from_fname(folder) }, function(err)
    local is_none = err and err.data and err.data.reason == wire.reasons.no_session
    callback(not is_none and err or nil)
  end)
end

--- Hands on what was heard of a loop. The output of one that runs elsewhere is read where somebody has looked
--- at it; what it says is told all the same.
---@param loop ralph.Known
---@param params ralph.UpdateParams
local function follow(loop, params)
  local reader = reader_of(loop.folder)
  if loop.owned or reader.cursor then
    return reader:hear(params)
  elseif loop.afar then
    return
  end
  local source = heard[params.loopId] or { loopId = params.loopId, folder = loop.folder }
  M.enqueue({
    updates = params.updates,
    handle = function(update)
      place(source, update)
      tell(source, update)
    end,
  })
end

--- How long a status may take that says who drives a loop, in ms. One that is resumed elsewhere
--- may be over before a status has seen it run.
local patience = 1000

--- Takes a ralph/update notification.
---@param params ralph.UpdateParams
function M.update(params)
  local id = params.loopId
  local loop = known[id]
  if loop and (loop.owned or loop.live) then
    return follow(loop, params)
  end
  early[id] = params -- the status will say who drives it now
  vim.defer_fn(function()
    if early[id] == params and known[id] then
      early[id] = nil
      follow(known[id], params)
    end
  end, patience)
end

--- Tells once of a loop that is over and about which something can be done.
---@param loop ralph.Loop
---@param was_live? boolean
local function tell_over(loop, was_live)
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
  if wire.is_afar(loop) then -- of a fleet many may end: r asks
    if how and loop.origin and was_live then
      notify.said(loop.name .. ' ', loop)
    end
  elseif loop.offers then
    require('ralph.ask').over(loop)
  end
end

--- Takes a ralph/status notification.
---@param params ralph.Status
function M.status(params)
  status.set(params)
  for _, loop in ipairs(params.loops) do
    local id = loop.loopId
    local was = known[id] or none
    local was_live = was.live
    if id then
      -- What ours said last may come behind the status that it is over.
      -- One of ours that was detached is read on.
      local owned = loop.owned or was.owned and (loop.detached or not loop.live)
      local now =
        { folder = wire.folder(loop), owned = owned, live = loop.live, afar = wire.is_afar(loop) }
      known[id] = now
      local waiting = early[id]
      early[id] = nil
      if waiting then
        follow(now, waiting)
      end
    end
    tell_over(loop, was_live)
  end
  require('ralph.question').look()
end

--- Learns that the sidecar is gone.
---@param crashed boolean nobody asked it to end
---@param code integer exit code
---@param signal integer
function M.closed(crashed, code, signal)
  local ours = status.ours()
  status.clear()
  require('ralph.question').look()
  known, early, over = {}, {}, {}
  for _, reader in pairs(readers) do
    reader:stop()
  end
  if crashed and require('ralph.ask').crashed(code, signal, ours) then
    return -- its loops go on
  end
  heard = {}
  for _, loop in ipairs(crashed and ours or {}) do
    local source = { loopId = loop.loopId, folder = wire.folder(loop), iteration = loop.iteration }
    events.fire('Interrupted', source)
  end
end

return M
