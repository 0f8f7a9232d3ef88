--- What a loop changed: its places, undo, redo, keep. The sidecar knows all of it.
local ask = require('ralph.ask')
local client = require('ralph.client')
local files = require('ralph.files')
local loops = require('ralph.loops')
local notify = require('ralph.notify')
local show = require('ralph.show')
local wire = require('ralph.wire')

local M = {}

---@class ralph.Changed
---@field path string relative to the folder, with slashes
---@field uri string
---@field from? string its path before
---@field status 'added'|'modified'|'deleted'|'renamed'|'mode'
---@field text string
---@field kept? boolean
---@field places { line: integer, text: string }[] where it changed, if that was asked for

---@class ralph.Changes: ralph.Said
---@field loopId string
---@field more? boolean there are more files
---@field files ralph.Changed[]
---@field iterations { iteration: integer, text: string }[]

---@class ralph.Chosen
---@field since boolean
---@field iteration? integer
---@field path? string relative to the folder

--- The path of a file as the sidecar has it; one outside of the folder stays
--- absolute, which the sidecar refuses.
---@param folder string
---@param path string absolute
---@return string
function M.relative(folder, path)
  local real = vim.fs.joinpath(
    vim.uv.fs_realpath(vim.fs.dirname(path)) or vim.fs.dirname(path),
    vim.fs.basename(path)
  )
  for _, root in ipairs({ vim.uv.fs_realpath(folder) or folder, folder }) do
    for _, name in ipairs({ real, path }) do
      if vim.startswith(name, root .. '/') then
        return name:sub(#root + 2)
      end
    end
  end
  return path
end

--- Reads "[since] [n] [path]". A path begins at the loop's folder; % is the
--- current file, as in other commands.
---@param folder string
---@param rest string
---@return ralph.Chosen
function M.parse(folder, rest)
  local chosen = { since = false }
  local word, behind = (rest .. ' '):match('^(since)%s+(.*)$')
  if word then
    chosen.since, rest = true, vim.trim(behind)
  end
  local number, path = (rest .. ' '):match('^(%d+)%s+(.-)%s*$')
  chosen.iteration = tonumber(number)
  path = number and path or rest
  if path:find('^[%%#]') then
    path = vim.fn.expand(path .. ':p')
  end
  if path:find('^/') or path:find('^%a:[/\\]') then
    path = M.relative(folder, vim.fs.normalize(path, { expand_env = false }))
  end
  chosen.path = path ~= '' and path or nil
  return chosen
end

--- Asks the sidecar, and shows what went wrong and can be done instead.
---@param folder string
---@param command string
---@param argument table
---@param callback fun(result: table)
function M.request(folder, command, argument, callback)
  argument.folder = vim.uri_from_fname(folder)
  client.execute(folder, command, argument, function(err, result)
    if err and err.data and err.data.offers then
      return ask.instead(folder, err)
    elseif err then
      return notify.error(err.message)
    end
    callback(result)
  end)
end

--- Asks for what changed, page by page.
---@param folder string
---@param argument table of ralph.loop.changes
---@param callback fun(result: ralph.Changes)
---@param before? ralph.Changed[] what is known already
function M.list(folder, argument, callback, before)
  M.request(folder, wire.commands.changes, argument, function(result)
    result.files = vim.list_extend(before or {}, result.files)
    if not result.more then
      return callback(result)
    end
    argument.after = result.files[#result.files].path
    M.list(folder, argument, callback, result.files)
  end)
end

---@class ralph.Listed a quickfix list of changes
---@field id integer
---@field title string
---@field chosen ralph.Chosen

---@type table<string, ralph.Listed> by folder
local listed = {}

--- Shows all that a loop changed as a patch.
---@param folder string
function M.patch(folder)
  M.request(folder, wire.commands.changes, { show = true }, function(result)
    notify.info(result.text)
  end)
end

--- Asks for the places that the loop changed.
---@param folder string
---@param chosen ralph.Chosen without an iteration: all of them
---@param callback fun(title: string, items: table[], text: string) the items are those of a quickfix list
local function places(folder, chosen, callback)
  local iteration = chosen.iteration
  local argument = {
    from = iteration and iteration - 1,
    to = iteration,
    paths = chosen.path and { chosen.path },
    places = true,
  }
  M.list(folder, argument, function(result)
    local items = {}
    for _, file in ipairs(result.files) do
      for _, place in ipairs(file.places) do
        table.insert(items, {
          filename = vim.uri_to_fname(file.uri),
          lnum = place.line,
          text = (file.kept and '✓ ' or '') .. place.text,
        })
      end
    end
    local which = iteration and (', iteration %d'):format(iteration) or ''
    callback(('Ralph %s%s: %s'):format(result.loopId, which, result.text), items, result.text)
  end)
end

--- Fills the quickfix list with the places that the loop changed, and opens it.
---@param folder string
---@param chosen ralph.Chosen without an iteration: all of them
function M.quickfix(folder, chosen)
  places(folder, chosen, function(title, items, text)
    if #items == 0 then
      return notify.info(text)
    end
    show.quickfix(title, items)
    local id = vim.fn.getqflist({ id = 0 }).id
    listed[folder] = { id = id, title = title, chosen = chosen }
  end)
end

--- Brings the list of a folder's changes up to date, if it is there and nobody else has filled it.
--- Its window isn't opened.
---@param folder string
local function relist(folder)
  local list = listed[folder]
  local function is_ours()
    return list and vim.fn.getqflist({ id = list.id, title = 0 }).title == list.title
  end
  if not is_ours() then
    return
  end
  places(folder, list.chosen, function(title, items)
    if is_ours() then
      local at = math.min(vim.fn.getqflist({ id = list.id, idx = 0 }).idx, math.max(#items, 1))
      vim.fn.setqflist({}, 'r', { id = list.id, title = title, items = items, idx = at })
      list.title = title
    end
  end)
end

--- The buffers of files that aren't saved.
---@param folder string
---@param paths string[]
---@return integer[]
local function unsaved(folder, paths)
  return vim.tbl_filter(function(buf)
    return vim.bo[buf].modified
      and vim.bo[buf].buftype == ''
      and vim.list_contains(paths, M.relative(folder, vim.api.nvim_buf_get_name(buf)))
  end, vim.api.nvim_list_bufs())
end

---@param buffers integer[]
---@param callback fun()
local function write(buffers, callback)
  for _, buf in ipairs(buffers) do
    local ok, problem = pcall(vim.api.nvim_buf_call, buf, vim.cmd.write)
    if not ok then
      return notify.error(tostring(problem))
    end
  end
  callback()
end

local take_back

--- Shows what became of an undo or a redo: what stays as it is, and why.
---@param folder string
---@param result { refused: table[], text: string }
local function show_outcome(folder, result)
  files.check_all(folder)
  relist(folder)
  local items, choices = {}, {}
  for _, refused in ipairs(result.refused) do
    local path = vim.fs.joinpath(folder, refused.path)
    table.insert(items, { filename = path, lnum = 1, text = refused.reason })
    for _, offer in ipairs(refused.offers or {}) do
      local function accept()
        take_back(folder, offer.command, offer.arguments[1])
      end
      table.insert(choices, { ('%s: %s'):format(refused.path, offer.title), accept })
    end
  end
  if #items > 0 then
    show.quickfix('Ralph: left as it is', items)
  end
  if #choices > 0 then
    ask.choose('Ralph: ' .. result.text, choices)
  end
end

--- Does what a dry run tells of, when nothing that isn't saved is in the way and
--- the user has said so.
---@param folder string
---@param command string
---@param argument table
---@param verb? string nil: the user isn't asked
function take_back(folder, command, argument, verb)
  local dry = vim.tbl_extend('force', argument, { dryRun = true })
  M.request(folder, command, dry, function(would)
    local paths = vim.list_extend(would.merged or {}, would.undone)
    local buffers = unsaved(folder, paths)
    if #buffers > 0 then
      local names = vim.tbl_map(function(buf)
        return M.relative(folder, vim.api.nvim_buf_get_name(buf))
      end, buffers)
      local prompt = 'Ralph: changes that are not saved are in the way: '
      local function write_and_go_on()
        write(buffers, function()
          take_back(folder, command, argument, verb)
        end)
      end
      return ask.choose(
        prompt .. table.concat(names, ', '),
        { { 'Write and go on', write_and_go_on } }
      )
    end
    local function go_on()
      M.request(folder, command, vim.deepcopy(argument), function(done)
        notify.info(done.text)
        show_outcome(folder, done)
      end)
    end
    if not verb or #paths == 0 then -- nothing is written
      return go_on()
    end
    ask.choose('Ralph: ' .. would.text, { { verb, go_on } })
  end)
end

--- Takes back what an iteration changed, or all since one, or the whole loop.
---@param folder string
---@param chosen ralph.Chosen
function M.undo(folder, chosen)
  local is_one = chosen.iteration and not chosen.since
  take_back(folder, wire.commands.undo, {
    iteration = is_one and chosen.iteration or nil,
    since = not is_one and (chosen.iteration or 1) or nil,
    paths = chosen.path and { chosen.path },
  }, 'Undo')
end

--- Takes the last undo back.
---@param folder string
function M.redo(folder)
  take_back(folder, wire.commands.redo, {})
end

--- Tells the sidecar what is reviewed, and shows it in the list of changes.
---@param folder string
---@param argument table of ralph.loop.keep
function M.mark(folder, argument)
  loops.run(folder, wire.commands.keep, argument, function(err)
    if not err then
      relist(folder)
    end
  end)
end

--- Marks what changed as reviewed, or takes the mark away.
---@param folder string
---@param chosen ralph.Chosen
---@param kept boolean
function M.keep(folder, chosen, kept)
  M.mark(folder, {
    iteration = chosen.iteration,
    paths = chosen.path and { chosen.path },
    kept = kept,
  })
end

---@param folder string
---@param argument { path: string, iteration?: integer }
---@param callback fun(err: ralph.Error?, text: string?) nil: it isn't text
function M.file(folder, argument, callback)
  argument.folder = vim.uri_from_fname(folder)
  client.execute(folder, wire.commands.file, argument, function(err, result)
    callback(err, result and (result.text or result.absent and '') or nil)
  end)
end

--- What can stand behind the name of a command about changes.
---@param folder string
---@param before string what stands there already
---@param with_since boolean
---@return string[]
function M.complete(folder, before, with_since)
  local answer
  local argument = { folder = vim.uri_from_fname(folder) }
  client.execute(folder, wire.commands.changes, argument, function(_, result)
    answer = result or { files = {}, iterations = {} }
  end)
  vim.wait(2000, function()
    return answer ~= nil
  end, 10)
  local words = with_since and before == '' and { 'since' } or {}
  if answer and not before:find('%d') then
    for _, one in ipairs(answer.iterations) do
      table.insert(words, tostring(one.iteration))
    end
  end
  for _, file in ipairs(answer and answer.files or {}) do
    table.insert(words, file.path)
  end
  return words
end

return M
