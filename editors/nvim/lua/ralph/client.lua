--- The connection to the sidecar. There is one for the whole of Neovim.
local binary = require('ralph.binary')
local config = require('ralph.config')
local notify = require('ralph.notify')
local transport = require('ralph.transport')
local wire = require('ralph.wire')

local M = {}

M.patience = 10000 -- milliseconds until a sidecar that doesn't answer is given up

---@type integer? id of the language client, also while it starts
local id
---@type boolean whether initialize was answered
local ready = false
---@type boolean whether the end of the process is what we asked for
local leaving = false
---@type fun(err: ralph.Error?)[] told when the client is ready, or isn't going to be
local waiting = {}
---@type table<string, true> folders that the sidecar knows of
local folders = {}

-- The dot form of the client's functions is deprecated since 0.11, the colon
-- form fails before.
local has_methods = vim.fn.has('nvim-0.11') == 1

---@param name 'request'|'notify'|'stop'
local function call(name, ...)
  local client = vim.lsp.get_client_by_id(id --[[@as integer]])
  if not client then
    return false
  end
  if has_methods then
    return client[name](client, ...)
  end
  return client[name](...)
end

---@param err ralph.Error?
local function tell_waiting(err)
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(err)
  end
end

--- Says what is wrong with a sidecar of another version.
---@param capabilities table the server's
---@return string?
local function mismatch(capabilities)
  local theirs = vim.tbl_get(capabilities, 'experimental', 'ralph', 'version')
  if theirs == wire.version then
    return nil
  end
  local advice = 'update ralph-lsp (:checkhealth ralph says which one is used)'
  if type(theirs) == 'number' and theirs > wire.version then
    advice = 'update this plugin'
  end
  return ('ralph-lsp speaks version %s of the protocol, the plugin version %d: %s'):format(
    tostring(theirs),
    wire.version,
    advice
  )
end

local function on_init(client, result)
  local problem = mismatch(result.capabilities or client.server_capabilities or {})
  if problem then
    leaving = true
    tell_waiting({ message = problem })
    M.stop()
    return
  end
  ready = true
  M.attach_documents()
  tell_waiting(nil)
end

---@param gone integer id of the client
---@param ended ralph.ProcessEnd
local function on_exit(gone, ended)
  vim.schedule(function()
    if gone ~= id then
      return -- it was given up
    end
    local expected, was_ready = leaving, ready
    id, ready, leaving, folders = nil, false, false, {}
    local message = ('the sidecar ended with exit code %d; see :Ralph log'):format(ended.code)
    tell_waiting({ message = vim.trim(message .. '\n' .. ended.errors) })
    if vim.v.exiting == vim.NIL then
      require('ralph.feed').closed(not expected and was_ready, ended.code, ended.signal)
    end
  end)
end

local function capabilities()
  local caps = vim.lsp.protocol.make_client_capabilities()
  caps.experimental = {
    ralph = {
      version = wire.version,
      updates = true,
      thinking = config.get().output.thinking,
      diagnostics = true,
      permissions = true,
    },
  }
  return caps
end

--- Gives up a sidecar that was started and doesn't answer.
---@param started integer
---@param program string
local function give_up(started, program)
  if id ~= started or ready then
    return
  end
  call('stop', true)
  id, folders = nil, {}
  tell_waiting({
    message = ('%s does not answer: see that it is ralph-lsp, or set cmd in vim.g.ralph; '):format(
      program
    ) .. ':checkhealth ralph and :Ralph log say more',
  })
end

---@param folder string
---@return string? problem
local function spawn(folder)
  local sidecar, problem = binary.sidecar()
  if not sidecar then
    return problem
  end
  if sidecar.lack then
    notify.warn(sidecar.lack)
  end
  local cmd = sidecar.cmd
  if not vim.list_contains(cmd, '--log') then
    vim.list_extend(cmd, require('ralph.log').flags())
  end
  local feed = require('ralph.feed')
  local connect, process_end =
    transport.new(cmd, { cwd = binary.outside, env = sidecar.env, is_behind = feed.is_behind })
  folders = { [folder] = true }
  id = vim.lsp.start({
    name = 'ralph',
    cmd = connect,
    root_dir = folder,
    workspace_folders = { { uri = vim.uri_from_fname(folder), name = vim.fs.basename(folder) } },
    capabilities = capabilities(),
    handlers = {
      [wire.methods.status] = function(_, params)
        feed.status(params)
      end,
      [wire.methods.update] = function(_, params)
        feed.update(params)
      end,
      [wire.methods.diagnostics] = function(_, params)
        return require('ralph.diagnostics').answer(params)
      end,
      [wire.methods.permission] = function()
        return vim.NIL -- left open: the status has it as long as it is, and the user answers by a command
      end,
    },
    commands = require('ralph.clicked').handlers(),
    on_init = on_init,
    on_exit = function(_, _, gone)
      on_exit(gone, process_end())
    end,
  }, {
    attach = false,
    reuse_client = function()
      return false
    end,
  })
  if not id then
    return ('%s could not be started; see :Ralph log'):format(cmd[1])
  end
  local started = id --[[@as integer]]
  vim.defer_fn(function()
    give_up(started, cmd[1])
  end, M.patience)
  require('ralph.leave').watch()
  require('ralph.files').watch()
end

--- Starts the sidecar if it doesn't run, and calls back when it listens.
---@param folder string a folder that it is to know of
---@param callback? fun(err: ralph.Error?)
function M.start(folder, callback)
  if callback then
    table.insert(waiting, callback)
  end
  if ready then
    M.add_folder(folder)
    tell_waiting(nil)
  elseif not id then
    local problem = spawn(folder)
    if problem then
      tell_waiting({ message = problem })
    end
  end
end

--- Tells the sidecar of a folder. That of a loop of another machine is none here.
---@param folder string
function M.add_folder(folder)
  if folders[folder] or wire.is_afar(require('ralph.status').in_folder(folder)) then
    return
  end
  folders[folder] = true
  local added = { { uri = vim.uri_from_fname(folder), name = vim.fs.basename(folder) } }
  call('notify', 'workspace/didChangeWorkspaceFolders', { event = { added = added, removed = {} } })
end

--- Tells of a file that was saved: after a run was cut off, it is the user's. Neovim tells of few files by
--- itself.
---@param path string
function M.saved(path)
  if ready then
    call('notify', 'textDocument/didSave', { textDocument = { uri = vim.uri_from_fname(path) } })
  end
end

--- Runs a command of the sidecar, which is started if need be.
---@param folder string the folder that it is about
---@param command string one of wire.commands
---@param argument table
---@param callback fun(err: ralph.Error?, result: table?)
function M.execute(folder, command, argument, callback)
  callback = require('ralph.idle').answer(callback)
  M.start(folder, function(err)
    if err then
      return callback(err)
    end
    M.add_folder(folder)
    local params = {
      command = command,
      arguments = { next(argument) and argument or vim.empty_dict() },
    }
    call('request', 'workspace/executeCommand', params, function(failure, result)
      callback(failure, result)
    end)
  end)
end

--- Whether the sidecar runs and listens.
---@return boolean
function M.is_ready()
  return ready
end

--- Ends the sidecar, and with it all loops.
function M.stop()
  leaving = true
  if id then
    call('stop')
  end
end

--- Ends the sidecar and starts it again.
---@param callback? fun(err: ralph.Error?)
function M.restart(callback)
  local folder = config.folder()
  if not id then
    return M.start(folder, callback)
  end
  local old = id
  M.stop()
  local deadline = vim.uv.now() + 3000
  local function again()
    if id == old and vim.uv.now() < deadline then
      return vim.defer_fn(again, 20)
    end
    if id == old then
      notify.error('the sidecar does not end')
      return
    end
    M.start(folder, callback)
  end
  again()
end

--- Whether a file is one that the sidecar helps to write.
---@param path string
---@return boolean
function M.is_document(path)
  local name = vim.fs.basename(path)
  return name == 'ralph.toml'
    or name:match('^PROMPT.*%.md$') ~= nil
    or vim.endswith(path, '/' .. wire.state_file)
    or M.may_be_plan(path)
end

--- Whether a file may be a plan. The sidecar knows which of them is one.
---@param path string
---@return boolean
function M.may_be_plan(path)
  local name = vim.fs.basename(path)
  return (vim.endswith(name, '.md') or name == 'prd.json')
    and vim.startswith(path, config.folder() .. '/')
end

--- Attaches the open prompt, state and configuration files.
function M.attach_documents()
  if not config.get().documents then
    return
  end
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      M.attach(buf)
    end
  end
end

--- Attaches a buffer if it is a document and the sidecar runs.
---@param buf integer
function M.attach(buf)
  if ready and config.get().documents and M.is_document(vim.api.nvim_buf_get_name(buf)) then
    vim.lsp.buf_attach_client(buf, id --[[@as integer]])
  end
end

return M
