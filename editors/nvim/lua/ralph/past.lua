--- What ran before: sessions that are read back from their files.
local client = require('ralph.client')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

---@type table<string, string> by folder: the loop that its output and files are of
local shown = {}

---@type table<string, string> by folder: the ended loop that was read to its end, as it was then
local complete = {}

---@type table<string, (fun(err: ralph.Error?))[]> who waits until a folder's past is read
local loading = {}

--- Begins a folder's output and files anew.
---@param source ralph.Source
local function reset(source)
  shown[source.folder] = source.loopId
  require('ralph.output').reset(source.folder)
  require('ralph.files').reset(source.folder)
end

---@param folder string
---@param err ralph.Error?
local function finish(folder, err)
  local callbacks = loading[folder] or {}
  loading[folder] = nil
  for _, callback in ipairs(callbacks) do
    callback(err)
  end
end

--- A loop was heard in its folder. One that goes on keeps what is there of it.
---@param source ralph.Source
function M.begin(source)
  if shown[source.folder] ~= source.loopId then
    reset(source)
  end
  complete[source.folder] = nil -- there will be more of it
  finish(source.folder) -- nothing of the past may come behind it
end

--- Reads a session, page by page.
---@param folder string
---@param argument { sessionFileUri: string, cursor?: string }
---@param take fun(updates: ralph.Update[]): boolean? false: no more is wanted
---@param done fun(err: ralph.Error?)
function M.read(folder, argument, take, done)
  client.execute(folder, wire.commands.transcript, argument, function(err, result)
    if err or not result then
      return done(err or { message = 'no answer' })
    end
    if take(result.updates or {}) == false then
      return
    end
    if not result.nextCursor then
      return done(nil)
    end
    M.read(folder, vim.tbl_extend('force', argument, { cursor = result.nextCursor }), take, done)
  end)
end

--- An ended loop as it is now: it may go on elsewhere and end once more.
---@param loop table of the history
---@return string
local function stamp(loop)
  return vim.inspect({ loop.loopId, loop.iterations, loop.stopReason, loop.durationMs })
end

--- Finds the loop that ran last in a folder, if it isn't one whose updates we get.
--- One that another process drives, or that may be resumed by one, has no stamp:
--- nothing tells whether there is more of it.
---@param folder string
---@param callback fun(err: ralph.Error?, loop: { loopId: string, sessionFileUri: string }?, stamp: string?)
local function find(folder, callback)
  local argument = { folder = vim.uri_from_fname(folder) }
  client.execute(folder, wire.commands.status, argument, function(err, result)
    local loop = result and result.loops[1]
    if err or loop then
      return callback(err, loop and not loop.owned and loop or nil)
    end
    local newest = vim.tbl_extend('force', argument, { limit = 1 })
    client.execute(folder, wire.commands.history, newest, function(failure, past)
      local last = past and past.loops[1]
      callback(failure, last, last and stamp(last))
    end)
  end)
end

--- Reads a loop into its folder's output and files. What is there stays until
--- there is something to replace it.
---@param source ralph.Source
---@param session string file URI
---@param is_wanted fun(): boolean
---@param done fun(err: ralph.Error?)
local function replay(source, session, is_wanted, done)
  local has_begun = false
  M.read(source.folder, { sessionFileUri = session }, function(updates)
    if not is_wanted() then
      return false
    end
    if not has_begun then
      has_begun = true
      reset(source)
    end
    for _, update in ipairs(updates) do
      if update.sessionUpdate == wire.updates.iteration then
        source.iteration = update.iteration
      end
      require('ralph.output').update(source, update)
      require('ralph.files').recall(source, update)
    end
  end, done)
end

--- Brings what ran last in a folder into its output and files. Calls back when
--- it is there, at once where nothing is to be read.
---@param folder string
---@param callback fun(err: ralph.Error?)
function M.load(folder, callback)
  if loading[folder] then
    return table.insert(loading[folder], callback)
  end
  local now = status.in_folder(folder)
  if now and now.owned and now.loopId == shown[folder] then
    return callback(nil)
  end
  local mine = { callback }
  loading[folder] = mine
  local function is_wanted()
    return loading[folder] == mine
  end
  find(folder, function(err, loop, as_it_is)
    if not is_wanted() then
      return
    end
    local has_news = loop and loop.sessionFileUri and (not as_it_is or as_it_is ~= complete[folder])
    if err or not loop or not has_news then
      return finish(folder, err)
    end
    complete[folder] = nil
    local source = { loopId = loop.loopId, folder = folder }
    replay(source, loop.sessionFileUri, is_wanted, function(failure)
      if not is_wanted() then
        return
      end
      if failure then
        shown[folder] = nil -- a part of it, perhaps
      else
        complete[folder] = as_it_is
      end
      finish(folder, failure)
    end)
  end)
end

--- Forgets what was asked of a sidecar that is gone: there is no answer.
function M.closed()
  for folder in pairs(loading) do
    shown[folder], complete[folder] = nil, nil
  end
  loading = {}
end

return M
