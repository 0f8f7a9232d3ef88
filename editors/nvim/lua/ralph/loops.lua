--- What can be done with loops. Answers come as notifications to the user;
--- each function also takes a callback that gets (err, result).
local client = require('ralph.client')
local config = require('ralph.config')
local notify = require('ralph.notify')
local wire = require('ralph.wire')

local M = {}

---@alias ralph.Callback fun(err: ralph.Error?, result: table?)

---@param err ralph.Error
---@return string?
local function reason(err)
  return err.data and err.data.reason
end

--- Runs a command in a folder and shows what went wrong. Where it would run what
--- a file in the folder says, the user is asked first.
---@param folder string?
---@param command string
---@param argument table
---@param callback? ralph.Callback
---@param is_expected? fun(err: ralph.Error): boolean the caller handles it
function M.run(folder, command, argument, callback, is_expected)
  folder = config.folder(folder)
  argument.folder = vim.uri_from_fname(folder)
  client.execute(folder, command, argument, function(err, result)
    if err and reason(err) == wire.reasons.untrusted and not argument.trust then
      return require('ralph.ask').untrusted(err, function()
        local trusting = vim.tbl_extend('force', argument, { trust = true })
        M.run(folder, command, trusting, callback, is_expected)
      end)
    end
    if err and not (is_expected and is_expected(err)) then
      notify.error(err.message)
    end
    if callback then
      callback(err, result)
    end
  end)
end

--- A word as the text of a start has it.
---@param word string
---@return string
local function quote(word)
  if word:match('^[%w_./:=@%%+,-]+$') then
    return word
  end
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

---@param text string? of a start, as it was typed
---@return string with the flags of the settings before it
local function with_flags(text)
  local all = vim.tbl_map(quote, config.get().flags)
  return table.concat(vim.list_extend(all, { text }), ' ')
end

local limit_keys = {
  max_iterations = 'maxIterations',
  completion_promise = 'completionPromise',
  max_cost_usd = 'maxCostUsd',
  max_duration_ms = 'maxDurationMs',
  idle_timeout_ms = 'idleTimeoutMs',
  max_consecutive_failures = 'maxConsecutiveFailures',
}

---@param options ralph.StartOptions
---@return table
local function start_argument(options)
  local argument = {
    prompt = not options.text and options.prompt or nil,
    selection = options.text and options.prompt,
    promptUri = options.prompt_file and vim.uri_from_fname(options.prompt_file),
    text = with_flags(options.text),
    backend = options.backend,
    model = options.model,
    args = options.args,
    replace = options.replace,
  }
  for name, value in pairs(options.limits or {}) do
    argument[limit_keys[name] or name] = value
  end
  return argument
end

--- Says that a folder's loop was cancelled, where nothing else does.
---@param folder string
---@param result table
local function tell_cancelled(folder, result)
  local loop = require('ralph.status').by_id(result.loopId)
  if result.state == 'idle' then
    notify.info('no loop is running here')
  elseif not (loop and loop.owned) then
    notify.info('the loop in ' .. vim.fs.basename(folder) .. ' is cancelled')
  end
end

--- Shows what a text did that is a command and no start.
---@param folder string
---@param result table
local function tell_command(folder, result)
  if result.command == '/ralph-help' then
    require('ralph.commands').all.help.run()
  else
    tell_cancelled(folder, result)
  end
end

--- Starts a loop. Where one is active, was interrupted or failed, and where the prompt
--- is missing, the user is asked.
---@param options? ralph.StartOptions
---@param callback? ralph.Callback
function M.start(options, callback)
  options = vim.tbl_extend('force', {}, options or {})
  options.folder = config.folder(options.folder)
  local decisions = {
    [wire.reasons.already_running] = require('ralph.ask').running,
    [wire.reasons.interrupted] = require('ralph.ask').left_behind,
    [wire.reasons.empty_prompt] = require('ralph.prompt').missing,
  }
  local function decision(err)
    return decisions[reason(err)]
  end
  M.run(options.folder, wire.commands.start, start_argument(options), function(err, result)
    if err and decision(err) and not options.replace then
      return decision(err)(options, err, callback)
    end
    if result and result.command then
      tell_command(options.folder, result)
      result.loopId = nil -- none was started
    elseif result then
      require('ralph.feed').learn(result.loopId, options.folder)
    end
    if callback then
      callback(err, result)
    end
  end, function(err)
    return decision(err) ~= nil and not options.replace
  end)
end

--- Starts a loop of one run.
---@param options? ralph.StartOptions
---@param callback? ralph.Callback
function M.once(options, callback)
  local limits = vim.tbl_extend('force', (options or {}).limits or {}, { max_iterations = 1 })
  M.start(vim.tbl_extend('force', options or {}, { limits = limits }), callback)
end

---@param done string
---@param callback? ralph.Callback
---@return ralph.Callback
local function saying(done, callback)
  return function(err, result)
    if result and result.state == 'idle' then
      notify.info('no loop is running here')
    elseif not err then
      notify.info(done)
    end
    if callback then
      callback(err, result)
    end
  end
end

--- Ends a folder's loop; the callback comes when its agent and everything that
--- it started are gone.
---@param folder? string
---@param callback? ralph.Callback
function M.cancel(folder, callback)
  folder = config.folder(folder)
  M.run(folder, wire.commands.cancel, {}, function(err, result)
    if result then
      tell_cancelled(folder, result)
    end
    if callback then
      callback(err, result)
    end
  end)
end

--- Ends all loops that this Neovim drives.
function M.cancel_all()
  local ours = require('ralph.status').ours()
  if #ours == 0 then
    return M.cancel()
  end
  for _, loop in ipairs(ours) do
    M.cancel(wire.folder(loop))
  end
end

--- Lets the running iteration finish and starts no other.
---@param folder? string
---@param callback? ralph.Callback
function M.pause(folder, callback)
  M.run(folder, wire.commands.pause, {}, saying('the loop pauses after this iteration', callback))
end

--- Lets a paused, waiting, interrupted, failed or capped loop go on.
---@param folder? string
---@param limits? table keys as on the wire
---@param callback? ralph.Callback
function M.resume(folder, limits, callback)
  folder = config.folder(folder)
  require('ralph.past').load(folder, function() -- before more comes behind it
    M.run(folder, wire.commands.resume, vim.deepcopy(limits or {}), callback)
  end)
end

--- Changes limits while a loop runs.
---@param folder? string
---@param limits table keys as on the wire
---@param callback? ralph.Callback
function M.update(folder, limits, callback)
  local argument = vim.deepcopy(limits)
  M.run(folder, wire.commands.update, argument, saying('the limits are changed', callback))
end

--- Tells the next run something.
---@param text string
---@param folder? string
---@param callback? ralph.Callback
function M.steer(text, folder, callback)
  local argument = { text = text }
  M.run(folder, wire.commands.steer, argument, saying('the next run is told', callback))
end

--- Lists the loops that ended in a folder, for the callback.
---@param folder? string
---@param callback ralph.Callback
function M.history(folder, callback)
  M.run(folder, wire.commands.history, {}, callback)
end

--- Checks the sidecar, the agents and the folder, for the callback.
---@param folder? string
---@param callback ralph.Callback
function M.doctor(folder, callback)
  M.run(folder, wire.commands.doctor, {}, callback)
end

--- Asks for the command line of an agent's own interface, for the callback.
--- With a session, a file's URI, it is pi's that goes on with that session.
---@param options { prompt?: string, backend?: string, folder?: string, session?: string }
---@param callback ralph.Callback
function M.plan(options, callback)
  local argument =
    { prompt = options.prompt, backend = options.backend, sessionFileUri = options.session }
  M.run(options.folder, wire.commands.plan, argument, callback)
end

return M
