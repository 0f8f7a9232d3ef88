--- JSON-RPC with a process, as vim.lsp.start takes it for cmd. Unlike Neovim's
--- own it reads no faster than what came is handled: a sidecar that has much to
--- say is kept waiting (it merges what waits), and typing never is.
local M = {}

local slice = 6 * 1000000 -- nanoseconds of work at a time
local pause = 3 -- milliseconds between two slices
local kept_errors = 2000 -- bytes of standard error that are kept

---@class ralph.TransportOptions
---@field cwd string
---@field env table<string, string> what its environment has besides ours
---@field is_behind fun(): boolean nothing more is to be read for now

---@class ralph.ProcessEnd
---@field code integer
---@field signal integer 0: none
---@field errors string the end of the process's standard error

---@class ralph.Transport
---@field private dispatchers vim.lsp.rpc.Dispatchers
---@field private options ralph.TransportOptions
---@field private process uv.uv_process_t
---@field private stdin uv.uv_pipe_t
---@field private stdout uv.uv_pipe_t
---@field private stderr uv.uv_pipe_t
---@field private input string what was read and not handled
---@field private callbacks table<integer, fun(err: table?, result: any)>
---@field private last_id integer
---@field private reading boolean
---@field private ended boolean standard output is closed
---@field private exit? { code: integer, signal: integer }
---@field private told boolean of the exit
---@field private errors string
local Transport = {}
Transport.__index = Transport

---@param message table
---@return boolean sent
function Transport:send(message)
  if self:is_closing() then
    return false
  end
  message.jsonrpc = '2.0'
  local body = vim.json.encode(message)
  self.stdin:write(('Content-Length: %d\r\n\r\n%s'):format(#body, body))
  return true
end

--- Takes the next message from the input.
---@return table?
function Transport:next_message()
  local _, header_end = self.input:find('\r\n\r\n', 1, true)
  if not header_end then
    return nil
  end
  local length = tonumber(self.input:sub(1, header_end):lower():match('content%-length: *(%d+)'))
  if not length then
    self:terminate()
    return nil
  end
  if #self.input < header_end + length then
    return nil
  end
  local body = self.input:sub(header_end + 1, header_end + length)
  self.input = self.input:sub(header_end + length + 1)
  -- Absent is nil in all versions: no field is ever vim.NIL.
  return vim.json.decode(body, { luanil = { object = true } })
end

--- Answers a request, at once or, as it runs in a coroutine, later.
---@param message table
function Transport:answer(message)
  local result, err = self.dispatchers.server_request(message.method, message.params)
  if result == nil and err == nil then
    result = vim.NIL
  end
  self:send({ id = message.id, result = result, error = err })
end

---@param message table
function Transport:handle(message)
  if message.method and message.id ~= nil then
    coroutine.wrap(self.answer)(self, message)
  elseif message.method then
    self.dispatchers.notification(message.method, message.params)
  else
    local callback = self.callbacks[message.id]
    self.callbacks[message.id] = nil
    if callback then
      callback(message.error, message.result)
    end
  end
end

--- Handles what was read until the slice is over, then reads on.
function Transport:work()
  local deadline = vim.uv.hrtime() + slice
  local message = self:next_message()
  while message do
    local ok, problem = pcall(self.handle, self, message)
    if not ok then
      require('ralph.notify').error('a message could not be handled: ' .. tostring(problem))
    end
    if vim.uv.hrtime() > deadline then
      return self:work_later()
    end
    message = self:next_message()
  end
  if self.options.is_behind() then
    self:work_later()
  elseif self.ended then
    self:close()
  else
    self:read()
  end
end

function Transport:work_later()
  vim.defer_fn(function()
    self:work()
  end, pause)
end

--- Reads one piece, and no other until that is handled.
function Transport:read()
  self.stdout:read_start(function(err, data)
    self.stdout:read_stop()
    if err or not data then
      self.ended = true
    else
      self.input = self.input .. data
    end
    vim.schedule(function()
      self:work()
    end)
  end)
end

--- Tells the end when the process is gone and all that it said is handled.
function Transport:close()
  if not self.exit or not self.ended or self.told then
    return
  end
  self.told = true
  for _, pipe in ipairs({ self.stdin, self.stdout, self.stderr }) do
    if not pipe:is_closing() then
      pipe:close()
    end
  end
  self.dispatchers.on_exit(0, 0) -- of any other end core tells the user in its own words
end

---@return boolean
function Transport:is_closing()
  return self.exit ~= nil or self.stdin:is_closing()
end

function Transport:terminate()
  if not self.exit then
    self.process:kill('sigterm')
  end
end

--- Our environment with more; nil: it is as ours.
---@param more table<string, string>
---@return string[]?
local function environment(more)
  if next(more) == nil then
    return nil
  end
  local list = {}
  for name, value in pairs(vim.tbl_extend('force', vim.fn.environ(), more)) do
    table.insert(list, name .. '=' .. value)
  end
  return list
end

---@param cmd string[]
---@return string? problem
function Transport:spawn(cmd)
  self.stdin, self.stdout, self.stderr = vim.uv.new_pipe(), vim.uv.new_pipe(), vim.uv.new_pipe()
  local process, problem = vim.uv.spawn(cmd[1], {
    args = vim.list_slice(cmd, 2),
    cwd = self.options.cwd,
    env = environment(self.options.env),
    stdio = { self.stdin, self.stdout, self.stderr },
    detached = vim.fn.has('win32') == 0, -- the terminal's signals are ours
    hide = true,
  }, function(code, signal)
    self.process:close()
    self.exit = { code = code, signal = signal }
    vim.schedule(function()
      self:close()
    end)
  end)
  if not process then
    return tostring(problem)
  end
  self.process = process
  self.stderr:read_start(function(_, data)
    self.errors = (self.errors .. (data or '')):sub(-kept_errors)
  end)
  self:read()
end

--- What core asks for: the four functions of a connection.
---@return vim.lsp.rpc.PublicClient
function Transport:public()
  return {
    request = function(method, params, callback, sent)
      self.last_id = self.last_id + 1
      local id = self.last_id
      self.callbacks[id] = function(err, result)
        if sent then
          sent(id)
        end
        callback(err, result)
      end
      return self:send({ id = id, method = method, params = params }), id
    end,
    notify = function(method, params)
      return self:send({ method = method, params = params })
    end,
    is_closing = function()
      return self:is_closing()
    end,
    terminate = function()
      self:terminate()
    end,
  }
end

--- Starts the process when core connects.
---@param cmd string[]
---@param options ralph.TransportOptions
---@return fun(dispatchers: vim.lsp.rpc.Dispatchers): vim.lsp.rpc.PublicClient
---@return fun(): ralph.ProcessEnd ended how the process ended
function M.new(cmd, options)
  local transport = setmetatable({
    options = options,
    input = '',
    errors = '',
    callbacks = {},
    last_id = 0,
    ended = false,
    told = false,
  }, Transport)
  local function connect(dispatchers)
    transport.dispatchers = dispatchers
    local problem = transport:spawn(cmd)
    if problem then
      error(('%s could not be started: %s'):format(cmd[1], problem), 0)
    end
    return transport:public()
  end
  return connect,
    function()
      return {
        code = transport.exit.code,
        signal = transport.exit.signal,
        errors = vim.trim(transport.errors),
      }
    end
end

return M
