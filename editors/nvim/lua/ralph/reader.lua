--- Reads the log of a loop, wherever that runs or ran. There is one cursor,
--- behind all that was taken: what is heard and begins there is taken as it is,
--- and anything else is read from there.
local client = require('ralph.client')
local wire = require('ralph.wire')

---@class ralph.Page
---@field updates ralph.Update[]
---@field loopId? string nil: of a session file alone
---@field begins? boolean they are the first: nothing from before counts
---@field is_news? boolean all from before was read, so they have just happened
---@field done? fun() to be called when they were handled

---@class ralph.Reader
---@field private folder string path
---@field private take fun(page: ralph.Page)
---@field cursor? string nil: nothing was read yet
---@field private is_caught_up? boolean all was read once
---@field private turn? table of the page that is read and handled now
---@field private unheard? ralph.UpdateParams what was heard meanwhile, the last
---@field private again? table to be read behind that page, which may be older than the wish for it
---@field private waiting (fun(err: ralph.Error?))[] told when all was read
local Reader = {}
Reader.__index = Reader

---@param folder string path
---@param take fun(page: ralph.Page)
---@return ralph.Reader
function Reader.new(folder, take)
  return setmetatable({ folder = folder, take = take, waiting = {} }, Reader)
end

--- Takes a notification, or reads what it is about.
---@param params ralph.UpdateParams
function Reader:hear(params)
  if self.turn then
    self.unheard = params
  elseif params.after and params.after == self.cursor then
    self.cursor = params.cursor
    self.take({ updates = params.updates, loopId = params.loopId, is_news = true })
  elseif not params.cursor or params.cursor ~= self.cursor then
    self:read({ loopId = params.loopId })
  end
end

--- Reads all that there is behind the cursor, page by page.
---@param target { loopId?: string, folder?: string, sessionFileUri?: string } whose log it is
---@param callback? fun(err: ralph.Error?)
function Reader:read(target, callback)
  table.insert(self.waiting, callback)
  if self.turn then
    self.again = target
    return
  end
  local turn = {}
  self.turn = turn
  local argument = vim.tbl_extend('force', target, { after = self.cursor })
  client.execute(self.folder, wire.commands.read, argument, function(err, page)
    if self.turn ~= turn then
      return
    elseif err or not page then
      return self:finish(err or { message = 'no answer' })
    end
    local begins = page.reset or not self.cursor
    self.cursor = page.cursor ~= '' and page.cursor or nil
    local function done()
      if self.turn ~= turn then
        return
      elseif not page.more then
        return self:finish(nil)
      end
      self.turn = nil
      self:read(target)
    end
    local is_news = self.is_caught_up
    self.take({
      updates = page.updates,
      loopId = page.loopId,
      begins = begins,
      is_news = is_news,
      done = done,
    })
  end)
end

---@param err ralph.Error?
function Reader:finish(err)
  local again = self.again
  self.again = nil
  if again and not err then
    self.turn = nil
    return self:read(again)
  end
  self.is_caught_up = self.is_caught_up or not err
  local waiting, unheard = self.waiting, self.unheard
  self.turn, self.waiting, self.unheard = nil, {}, nil
  for _, callback in ipairs(waiting) do
    callback(err)
  end
  if unheard then
    self:hear(unheard)
  end
end

--- Forgets what a sidecar was asked that is gone. The cursor stays good.
function Reader:stop()
  self.turn, self.waiting, self.unheard, self.again = nil, {}, nil, nil
end

return Reader
