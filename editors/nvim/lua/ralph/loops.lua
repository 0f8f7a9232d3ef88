--- What can be done with loops. Answers come as notifications to the user;
--- each function also takes a callback that gets (err, result).
local client = require('ralph.client')
local config = require('ralph.config')
local notify = require('ralph.notify')
local wire = require('ralph.wire')

local M = {}

---@alias ralph.Callback fun(err: ralph.Error?, result: table?)

--- Runs a command in a folder, and shows what came of it or what went wrong.
--- Where something else can be done, the user is asked.
---@param folder string?
---@param command string
---@param argument table
---@param callback? ralph.Callback
---@param handle? table<string, fun(err: ralph.Error)> by its reason: what else to do about an error
function M.run(folder, command, argument, callback, handle)
  folder = config.folder(folder)
  if not argument.loopId then
    argument.folder = argument.folder or vim.uri_from_fname(folder)
  end
  local function execute()
    client.execute(folder, command, argument, function(err, result)
      local data = err and err.data or {}
      if handle and handle[data.reason] then
        return handle[data.reason](err)
      elseif data.offers then
        return require('ralph.ask').instead(folder, err, callback, handle)
      elseif err then
        notify.error(err.message)
      elseif result and result.details then
        require('ralph.show').preview(result)
      elseif result and result.checks then
        require('ralph.show').doctor(result)
      elseif result and result.text and #(result.offers or {}) > 0 then
        require('ralph.ask').offer('Ralph: ' .. result.text, folder, result.offers)
      elseif result and result.text then
        notify.info(result.text)
      end
      if callback then
        callback(err, result)
      end
    end)
  end
  if command == wire.commands.resume then
    require('ralph.feed').read(folder, execute) -- before more comes behind it
  else
    execute()
  end
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

--- What the user has set for all starts, as far as it isn't flags.
---@return { permissions?: 'ask', onClose?: 'keep'|'end' }?
local function settings()
  local given = config.get()
  local said = {
    permissions = given.permissions ~= '' and given.permissions or nil,
    onClose = given.on_close ~= '' and given.on_close or nil,
  }
  return next(said) and said or nil
end

---@param options ralph.StartOptions
---@return table
local function start_argument(options)
  local argument = {
    prompt = not options.text and options.prompt or nil,
    selection = options.text and options.prompt,
    promptUri = options.prompt_file and vim.uri_from_fname(options.prompt_file),
    text = with_flags(options.text),
    settings = settings(),
    backend = options.backend,
    model = options.model,
    args = options.args,
    replace = options.replace,
  }
  for name, value in pairs(options.limits or {}) do
    argument[(name:gsub('_(%l)', string.upper))] = value -- max_iterations: maxIterations
  end
  return argument
end

--- Says that a loop runs, where one does: the callback of a start by hand.
---@type ralph.Callback
function M.started(_, result)
  if result and result.loopId then
    notify.info('the loop runs; :Ralph output shows it')
  end
end

---@param options ralph.StartOptions with its folder
---@param argument table of the command
---@param callback? ralph.Callback
local function begin(options, argument, callback)
  M.run(options.folder, wire.commands.start, argument, function(err, result)
    if result and result.command == '/ralph-help' then
      require('ralph.commands').all.help.call()
    end
    if result and result.command then
      result.loopId = nil -- none was started
    end
    if callback then
      callback(err, result)
    end
  end, {
    [wire.reasons.empty_prompt] = function(err)
      require('ralph.prompt').missing(options, err, callback)
    end,
  })
end

--- Starts a loop. Where one is active, was interrupted or failed, and where the prompt
--- is missing, the user is asked.
---@param options? ralph.StartOptions
---@param callback? ralph.Callback
function M.start(options, callback)
  options = vim.tbl_extend('force', {}, options or {})
  options.folder = config.folder(options.folder)
  begin(options, start_argument(options), callback)
end

--- Tells the callback what a start would run.
---@param options ralph.StartOptions with its folder
---@param callback fun(err: ralph.Error?, preview: ralph.Preview?)
function M.preview(options, callback)
  local argument = start_argument(options)
  argument.folder, argument.dryRun = vim.uri_from_fname(options.folder), true
  client.execute(options.folder, wire.commands.start, argument, callback)
end

--- Starts a loop, or tells what would run, as a lens or a code action says it.
---@param folder string
---@param argument table of the command, without a text
function M.start_clicked(folder, argument)
  argument.text, argument.settings = with_flags(nil), settings()
  begin({ folder = folder, prompt_file = argument.promptUri }, argument, M.started)
end

--- Starts a loop of one run.
---@param options? ralph.StartOptions
---@param callback? ralph.Callback
function M.once(options, callback)
  local limits = vim.tbl_extend('force', (options or {}).limits or {}, { max_iterations = 1 })
  M.start(vim.tbl_extend('force', options or {}, { limits = limits }), callback)
end

--- Ends all loops that this Neovim drives.
function M.cancel_all()
  local folders = vim.tbl_map(wire.folder, require('ralph.status').ours())
  for _, folder in ipairs(#folders > 0 and folders or { config.folder() }) do
    M.run(folder, wire.commands.cancel, {})
  end
end

--- Lets a paused, waiting, interrupted, failed or capped loop go on.
---@param folder? string
---@param limits? string as they are typed
---@param callback? ralph.Callback
function M.resume(folder, limits, callback)
  M.run(folder, wire.commands.resume, { text = limits }, callback)
end

--- Changes limits while a loop runs.
---@param folder? string
---@param limits string as they are typed
---@param callback? ralph.Callback
function M.update(folder, limits, callback)
  M.run(folder, wire.commands.update, { text = limits }, callback)
end

--- Tells a loop something: the running agent where it is live, else the next run.
---@param text string
---@param folder? string
---@param callback? ralph.Callback
function M.steer(text, folder, callback)
  local filled, problem = require('ralph.words').fill(text, config.folder(folder))
  if not filled then
    return notify.error(problem)
  end
  text = filled
  M.run(folder, wire.commands.steer, { text = text }, callback)
end

--- Brings what a loop did in its worktree to the user's branch, or discards it.
---@param folder? string
---@param text string the loop and flags, as they are typed
---@param callback? ralph.Callback
function M.land(folder, text, callback)
  M.run(folder, wire.commands.land, { text = text }, function(err, result)
    require('ralph.files').check_all(config.folder(folder))
    if callback then
      callback(err, result)
    end
  end)
end

--- Asks for the command line of an agent's own interface, for the callback.
--- Text and prompt are those of a start. With a session, a file's URI, it is pi's that
--- goes on with that session.
---@param options { text?: string, prompt?: string, folder?: string, session?: string }
---@param callback ralph.Callback
function M.plan(options, callback)
  local argument = {
    text = with_flags(options.text),
    selection = options.prompt,
    sessionFileUri = options.session,
  }
  M.run(options.folder, wire.commands.plan, argument, callback)
end

return M
