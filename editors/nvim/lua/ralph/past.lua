--- What ran before: sessions that are read back from their files.
local client = require('ralph.client')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

---@type table<string, string> by folder: the loop that its output and files are of
local known = {}

---@type table<string, (fun(err: ralph.Error?))[]> who waits until a folder's past is read
local loading = {}

---@param source ralph.Source
local function show(source)
  if known[source.folder] ~= source.loopId then
    known[source.folder] = source.loopId
    require('ralph.output').reset(source.folder)
    require('ralph.files').reset(source.folder)
  end
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
  show(source)
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

--- Finds the loop that ran last in a folder, if it isn't one whose updates we get.
---@param folder string
---@param callback fun(err: ralph.Error?, loop: { loopId: string, sessionFileUri: string }?)
local function find(folder, callback)
  local argument = { folder = vim.uri_from_fname(folder) }
  client.execute(folder, wire.commands.status, argument, function(err, result)
    local loop = result and result.loops[1]
    if err or loop then
      return callback(err, loop and not loop.owned and loop or nil)
    end
    local newest = vim.tbl_extend('force', argument, { limit = 1 })
    client.execute(folder, wire.commands.history, newest, function(failure, past)
      callback(failure, past and past.loops[1])
    end)
  end)
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
  if now and now.loopId == known[folder] then
    return callback(nil)
  end
  local mine = { callback }
  loading[folder] = mine
  find(folder, function(err, loop)
    if loading[folder] ~= mine then
      return
    end
    local has_news = loop and loop.sessionFileUri and loop.loopId ~= known[folder]
    if err or not has_news then
      return finish(folder, err)
    end
    local source = { loopId = loop.loopId, folder = folder }
    show(source)
    M.read(folder, { sessionFileUri = loop.sessionFileUri }, function(updates)
      if loading[folder] ~= mine then
        return false
      end
      for _, update in ipairs(updates) do
        if update.sessionUpdate == wire.updates.iteration then
          source.iteration = update.iteration
        end
        require('ralph.output').update(source, update)
        require('ralph.files').recall(source, update)
      end
    end, function(failure)
      if loading[folder] == mine then
        finish(folder, failure)
      end
    end)
  end)
end

return M
