--- What the language servers know of files, for loops whose promises pass that.
local M = {}

M.quiet = 2000 -- milliseconds without news until nothing more is expected
M.limit = 30000 -- milliseconds until what isn't done counts as such
local step = 100 -- milliseconds between two looks
local silent = 10000 -- milliseconds until a server that never says anything isn't waited for

local publish, pull = 'textDocument/publishDiagnostics', 'textDocument/diagnostic'

---@class ralph.Look at a file by a language server
---@field at integer when its answer came
---@field version? integer of the text, if it says so
---@field tick integer of the buffer then

---@type table<integer, table<string, ralph.Look>> by client, and by the file's path
local looks = {}

--- The last text that a client was sent of a path.
---@type table<integer, table<string, { at: integer, version?: integer }>>
local sent = {}

---@type integer when something was last heard of any diagnostics
local heard = 0

local watched = false

---@return integer milliseconds
local function now()
  return vim.uv.hrtime() / 1000000
end

---@param uri string
---@return string
local function path_of(uri)
  return vim.fs.normalize(vim.uri_to_fname(uri), { expand_env = false })
end

--- Notes a text that a server was sent.
---@param client integer
---@param document { uri: string, version?: integer }
local function note_sent(client, document)
  sent[client] = sent[client] or {}
  sent[client][path_of(document.uri)] = { at = now(), version = document.version }
end

--- Notes that a server has told of a file.
---@param client integer
---@param uri string
---@param version? integer
local function note(client, uri, version)
  heard = now()
  local path = path_of(uri)
  local buf = vim.fn.bufnr('^' .. vim.fn.escape(path, '\\*?[]{},^$') .. '$')
  local is_loaded = buf > 0 and vim.api.nvim_buf_is_loaded(buf)
  looks[client] = looks[client] or {}
  looks[client][path] = {
    at = heard,
    version = version,
    tick = is_loaded and vim.api.nvim_buf_get_changedtick(buf) or -1,
  }
end

--- Follows which language server has looked at what. Of those that are asked for
--- diagnostics only core knows the answers.
function M.watch()
  if watched then
    return
  end
  watched = true
  local handlers = vim.lsp.handlers
  local published, pulled = handlers[publish], handlers[pull]
  handlers[publish] = function(err, params, ctx, ...)
    if params and params.uri then
      note(ctx.client_id, params.uri, params.version)
    end
    return published(err, params, ctx, ...)
  end
  handlers[pull] = function(err, result, ctx, ...)
    local document = (ctx.params or {}).textDocument
    if result and document then
      note(ctx.client_id, document.uri, ctx.version)
    end
    return pulled(err, result, ctx, ...)
  end
  local group = vim.api.nvim_create_augroup('ralph.diagnostics', { clear = true })
  vim.api.nvim_create_autocmd('LspNotify', {
    group = group,
    callback = function(event)
      local method, params = event.data.method, event.data.params
      if method == 'textDocument/didOpen' or method == 'textDocument/didChange' then
        note_sent(event.data.client_id, params.textDocument)
      end
    end,
  })
  vim.api.nvim_create_autocmd('DiagnosticChanged', {
    group = group,
    callback = function()
      heard = now()
    end,
  })
end

--- The language servers of a buffer, also those that only begin.
---@param buf integer
---@return vim.lsp.Client[]
local function servers(buf)
  local all = vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })
  return vim.tbl_filter(function(client)
    return client.name ~= 'ralph'
  end, all)
end

---@param client vim.lsp.Client
---@return boolean
local function is_at_work(client)
  return not client.initialized or next(client.progress.pending) ~= nil
end

--- Whether a server has told of a buffer as it is: behind the last text that it was
--- sent, and of no older one.
---@param client vim.lsp.Client
---@param buf integer
---@return boolean
local function has_looked(client, buf)
  local path = vim.fs.normalize(vim.api.nvim_buf_get_name(buf), { expand_env = false })
  local look, text = (looks[client.id] or {})[path], (sent[client.id] or {})[path]
  if not look or look.tick ~= vim.api.nvim_buf_get_changedtick(buf) then
    return false
  elseif text and (look.at < text.at or look.version and look.version < (text.version or 0)) then
    return false
  end
  return true
end

--- A file that is looked at.
---@class ralph.Looked
---@field path string
---@field buf integer
---@field opened? 'new'|'loaded' what we did to have it

--- Loads a file as it is on the disk, without showing it.
---@param path string
---@return ralph.Looked?
local function open(path)
  local is_known = vim.fn.bufexists(path) == 1
  local buf = vim.fn.bufadd(path)
  local one = { path = path, buf = buf }
  if not vim.api.nvim_buf_is_loaded(buf) then
    vim.bo[buf].swapfile = false -- one that is there would ask
    one.opened = is_known and 'loaded' or 'new'
    if not pcall(vim.fn.bufload, buf) then
      return one
    end
    if vim.bo[buf].filetype == '' then
      vim.bo[buf].filetype = vim.filetype.match({ buf = buf }) or ''
    end
  else
    require('ralph.files').check(buf)
  end
  return one
end

--- Gives up what was only opened to be looked at, unless the user has taken it.
---@param one ralph.Looked
local function close(one)
  local buf = one.buf
  if not one.opened or not vim.api.nvim_buf_is_valid(buf) or vim.bo[buf].modified then
    return
  end
  local is_taken = one.opened == 'new' and vim.bo[buf].buflisted
  if not is_taken and #vim.fn.win_findbuf(buf) == 0 then
    pcall(vim.api.nvim_buf_delete, buf, { unload = one.opened == 'loaded' })
  end
end

--- How far a file has come.
---@param one ralph.Looked
---@param began integer
---@return 'seen'|'busy'|'unsaved'|'alone'
local function state_of(one, began)
  local buf = one.buf
  if not vim.api.nvim_buf_is_loaded(buf) then
    return 'alone'
  elseif vim.bo[buf].modified then
    return 'unsaved'
  end
  local state = 'alone'
  for _, client in ipairs(servers(buf)) do
    if is_at_work(client) then
      return 'busy'
    elseif has_looked(client, buf) then
      state = 'seen'
    elseif looks[client.id] or client:supports_method(pull) or now() - began < silent then
      return 'busy'
    end
  end
  return state
end

--- The errors that are known of a folder's files.
---@param folder string
---@return table[]
local function errors_in(folder)
  local found = {}
  for _, d in ipairs(vim.diagnostic.get(nil, { severity = vim.diagnostic.severity.ERROR })) do
    local name = vim.api.nvim_buf_is_valid(d.bufnr) and vim.api.nvim_buf_get_name(d.bufnr) or ''
    if vim.startswith(vim.fs.normalize(name, { expand_env = false }), folder .. '/') then
      table.insert(found, {
        uri = vim.uri_from_fname(name),
        range = {
          start = { line = d.lnum, character = d.col },
          ['end'] = { line = d.end_lnum or d.lnum, character = d.end_col or d.col },
        },
        severity = 1,
        code = d.code,
        source = d.source,
        message = d.message,
      })
    end
  end
  return found
end

--- What is known right now of the files that are open.
---@param folder string
---@return table
local function known(folder)
  local seen = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    local is_ours = vim.startswith(vim.fs.normalize(name, { expand_env = false }), folder .. '/')
    if is_ours and vim.api.nvim_buf_is_loaded(buf) and not vim.bo[buf].modified then
      local clients = servers(buf)
      if #clients > 0 and not vim.iter(clients):any(is_at_work) then
        table.insert(seen, vim.uri_from_fname(name))
      end
    end
  end
  return { settled = true, diagnostics = errors_in(folder), seen = seen }
end

--- Waits in a coroutine.
---@param milliseconds integer
local function sleep(milliseconds)
  local co = coroutine.running()
  vim.defer_fn(function()
    coroutine.resume(co)
  end, milliseconds)
  coroutine.yield()
end

--- Answers ralph/diagnostics, in a coroutine.
---@param params { folder: string, paths: string[] }
---@return table
function M.answer(params)
  M.watch()
  local folder = path_of(params.folder)
  if #params.paths == 0 then
    return known(folder)
  end
  local files = {}
  for _, path in ipairs(params.paths) do
    table.insert(files, open(vim.fs.joinpath(folder, path)))
  end
  local began = now()
  local result
  repeat
    sleep(step)
    result = { seen = {}, busy = {}, unsaved = {}, alone = {} }
    for _, one in ipairs(files) do
      table.insert(result[state_of(one, began)], vim.uri_from_fname(one.path))
    end
    local is_quiet = now() - math.max(heard, began) >= M.quiet
    result.settled = #result.busy == 0 and is_quiet
  until result.settled or now() - began >= M.limit
  result.alone = nil
  result.diagnostics = errors_in(folder)
  vim.iter(files):each(close)
  return result
end

return M
