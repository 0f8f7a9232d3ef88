--- The output buffers: one for each folder, with what its last loop does, and
--- one for each session of the past that was opened.
local Reader = require('ralph.reader')
local Transcript = require('ralph.transcript')
local actions = require('ralph.actions')
local browse = require('ralph.browse')
local client = require('ralph.client')
local config = require('ralph.config')
local feed = require('ralph.feed')
local format = require('ralph.format')
local markdown = require('ralph.markdown')
local notify = require('ralph.notify')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

local flush_interval = 50 -- milliseconds between two changes of a buffer
local flush_lines = 1000 -- lines that one change adds at most
local colour_time = 4 * 1000000 -- nanoseconds that colours take at a time
local least_folded = 3 -- lines of a tool's output, for a fold

---@class ralph.Folded numbers of the last headings that have a fold
---@field iteration integer
---@field call integer
---@field agent integer its last line

---@class ralph.View
---@field name string of the buffer
---@field folder string
---@field session? string file URI of a loop of the past
---@field reader? ralph.Reader of the session
---@field transcript ralph.Transcript
---@field buf? integer
---@field first integer number of the transcript's line that the buffer begins with
---@field last integer number of the line that it ends with; first - 1: only a hint is shown
---@field folded table<integer, ralph.Folded> by window
---@field coloured integer number of the first line of the last message that has its colours
---@field scheduled boolean

---@type table<string, ralph.View> by the buffer's name
local views = {}

local live, kept = 'ralph://', 'ralph-session://'

local hint = 'No loop has run here yet. :Ralph start PROMPT begins one.'

--- The view for a buffer's name: ralph://FOLDER or ralph-session://FILE.
---@param name string
---@return ralph.View
local function named(name)
  local view = views[name]
  if not view then
    local file = name:match('^' .. vim.pesc(kept) .. '(.*)')
    view = {
      name = name,
      folder = file and config.folder() or name:sub(#live + 1),
      session = file and vim.uri_from_fname(file),
      transcript = Transcript.new(config.get().output),
      first = 1,
      last = 0,
      folded = {},
      coloured = 0,
      scheduled = false,
    }
    views[name] = view
  end
  return view
end

---@param folder string
---@return ralph.View
local function view_of(folder)
  return named(live .. folder)
end

--- The windows that show the end of a buffer, and so follow it.
---@param buf integer
---@return integer[]
local function followers(buf)
  local count = vim.api.nvim_buf_line_count(buf)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] == count
  end, vim.fn.win_findbuf(buf))
end

---@param buf integer
---@param from integer zero-based
---@param to integer exclusive, -1 for the end
---@param lines string[]
local function set_lines(buf, from, to, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, from, to, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

--- Removes from the buffer what the transcript has forgotten.
---@param view ralph.View
local function forget(view)
  local transcript = view.transcript
  if view.last < transcript.first then
    set_lines(view.buf, 0, -1, { hint })
    view.first, view.last, view.folded = transcript.first, transcript.first - 1, {}
    view.coloured = 0
  elseif view.first < transcript.first then
    set_lines(view.buf, 0, transcript.first - view.first, {})
    view.first = transcript.first
  end
end

--- Writes the lines that changed in place.
---@param view ralph.View
local function rewrite(view)
  local transcript = view.transcript
  for number in pairs(transcript.changed) do
    if number >= view.first and number <= view.last then
      local row = number - view.first
      set_lines(view.buf, row, row + 1, transcript:slice(number, number))
    end
  end
  transcript.changed = {}
end

--- The parts behind the one that begins at a number, the oldest first.
---@generic T: { first: integer }
---@param parts T[]
---@param number integer
---@return T[]
local function behind(parts, number)
  local from = #parts + 1
  while from > 1 and parts[from - 1].first > number do
    from = from - 1
  end
  return vim.list_slice(parts, from)
end

--- Makes a fold of each tool call with an output, open, in the current window.
---@param view ralph.View
---@param folded ralph.Folded
local function fold_calls(view, folded)
  for _, call in ipairs(behind(view.transcript.calls, math.max(folded.call, view.first - 1))) do
    if call.last > view.last then
      return
    end
    if call.last - call.first >= least_folded then
      local from = call.first - view.first + 1
      vim.cmd.fold({ range = { from, call.last - view.first + 1 } })
      vim.cmd.foldopen({ range = { from } })
    end
    folded.call = call.first
  end
end

--- Folds what agents did that have ended, in the current window.
---@param view ralph.View
---@param folded ralph.Folded
local function fold_agents(view, folded)
  for _, agent in ipairs(view.transcript.agents) do
    if agent.last > folded.agent and agent.last <= view.last then
      if agent.first >= view.first then
        local from = agent.first - view.first + 1
        vim.cmd.fold({ range = { from, agent.last - view.first + 1 } })
      end
      folded.agent = agent.last
    end
  end
end

--- Folds the iterations that are over, in the current window. What the user
--- reads stays open, and so does the last iteration.
---@param view ralph.View
---@param follows boolean
local function fold_here(view, follows)
  local win = vim.api.nvim_get_current_win()
  local iterations = view.transcript.iterations
  if not view.folded[win] then
    vim.cmd('silent! normal! zE')
    view.folded[win] = { iteration = 0, call = 0, agent = 0 }
  end
  local folded = view.folded[win]
  fold_calls(view, folded)
  fold_agents(view, folded)
  local cursor = vim.api.nvim_win_get_cursor(win)[1]
  for index, iteration in ipairs(iterations) do
    local is_last = index == #iterations
    local is_over = iteration.last
      and iteration.last <= view.last
      and (not is_last or view.transcript.ended)
    if is_over and iteration.first > folded.iteration and iteration.first >= view.first then
      local from, to = iteration.first - view.first + 1, iteration.last - view.first + 1
      vim.cmd.fold({ range = { from, to } })
      if is_last or not follows and cursor >= from and cursor <= to then
        vim.cmd.foldopen({ range = { from } })
      end
      folded.iteration = iteration.first
    end
  end
end

--- Folds the iterations that are over, in all windows.
---@param view ralph.View
---@param windows integer[] that follow
local function fold(view, windows)
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    vim.api.nvim_win_call(win, function()
      fold_here(view, vim.list_contains(windows, win))
    end)
  end
end

local schedule

--- Colours the messages that are complete, for a few milliseconds.
---@param view ralph.View
---@return boolean done
local function colour(view)
  local transcript, deadline = view.transcript, vim.uv.hrtime() + colour_time
  for _, message in ipairs(behind(transcript.messages, math.max(view.coloured, view.first - 1))) do
    if transcript:is_open(message) or message.last > view.last then
      return true
    elseif vim.uv.hrtime() > deadline then
      return false
    end
    local lines = transcript:slice(message.first, message.last)
    markdown.colour(view.buf, message.first - view.first, lines)
    view.coloured = message.first
  end
  return true
end

--- Brings the buffer up to the transcript, or a piece of the way.
---@param view ralph.View
local function flush(view)
  view.scheduled = false
  local buf, transcript = view.buf, view.transcript
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    view.buf = nil
    return
  end
  local windows = followers(buf)
  forget(view)
  rewrite(view)
  local to = math.min(transcript.last, view.last + flush_lines)
  if to > view.last then
    local from = view.last < view.first and 0 or -1
    set_lines(buf, from, -1, transcript:slice(view.last + 1, to))
    view.last = to
  end
  local count = vim.api.nvim_buf_line_count(buf)
  for _, win in ipairs(windows) do
    vim.api.nvim_win_set_cursor(win, { count, 0 })
  end
  fold(view, windows)
  if not colour(view) or transcript.last > view.last then
    schedule(view)
  end
end

---@param view ralph.View
function schedule(view)
  if not view.scheduled and view.buf then
    view.scheduled = true
    vim.defer_fn(function()
      flush(view)
    end, flush_interval)
  end
end

---@param view ralph.View
local function clear(view)
  view.transcript = Transcript.new(config.get().output)
  view.first, view.last, view.folded, view.coloured = 1, 0, {}, 0
  if view.buf and vim.api.nvim_buf_is_valid(view.buf) then
    set_lines(view.buf, 0, -1, { hint })
  end
end

---@param view ralph.View
---@param update ralph.Update
local function add(view, update)
  view.transcript:add(update)
  schedule(view)
end

--- Begins anew: another loop follows.
---@param folder string
function M.reset(folder)
  clear(view_of(folder))
end

--- Adds an update.
---@param source ralph.Source
---@param update ralph.Update
function M.update(source, update)
  add(view_of(source.folder), update)
end

--- A closed iteration or tool call: its heading, and its length. What isn't shown of an
--- output counts.
---@return string
function M.foldtext()
  local heading = vim.fn.getline(vim.v.foldstart)
  local lines = vim.v.foldend - vim.v.foldstart
  local hidden = vim.fn.getline(vim.v.foldstart + 1):match('^ *│ … ([%d,]+) lines?$')
  if hidden and not vim.startswith(heading, '▌') then
    lines = lines - 1 + tonumber((hidden:gsub(',', '')))
  end
  local text = ('%s · %s '):format(heading, format.count(lines, 'line'))
  return format.cut(text, vim.api.nvim_win_get_width(0))
end

--- Brings what a view doesn't have of its session, or of its folder's loop.
---@param view ralph.View
local function restore(view)
  local function done(err)
    if err then
      notify.warn('the output could not be read back: ' .. err.message)
    end
  end
  if not view.session then
    return feed.read(view.folder, done)
  end
  view.reader = view.reader
    or Reader.new(view.folder, function(page)
      feed.enqueue({
        updates = page.updates,
        begin = page.begins and function()
          clear(view)
        end,
        handle = function(update)
          add(view, update)
        end,
        done = page.done,
      })
    end)
  view.reader:read({ sessionFileUri = view.session }, done)
end

--- Fills a buffer, as BufReadCmd does.
---@param buf integer
---@param name string of the buffer
function M.read(buf, name)
  local view = named(name)
  vim.b[buf].ralph_output = name
  vim.b[buf].ralph_folder = view.folder
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].undolevels = -1
  vim.bo[buf].filetype = 'ralph'
  view.buf = buf
  view.first, view.last, view.folded = view.transcript.first, view.transcript.first - 1, {}
  view.coloured = 0
  set_lines(buf, 0, -1, { hint })
  local group = vim.api.nvim_create_augroup('ralph.output', { clear = false })
  vim.api.nvim_clear_autocmds({ group = group, buffer = buf })
  vim.api.nvim_create_autocmd('BufWinEnter', {
    group = group,
    buffer = buf,
    callback = function()
      view.folded[vim.api.nvim_get_current_win()] = nil -- a window's folds are its own
      fold_here(view, true)
    end,
  })
  restore(view)
  flush(view)
end

--- Shows the whole output of the tool call at the cursor, as the session has it.
local function open_whole()
  local view = views[vim.b.ralph_output]
  local number = vim.api.nvim_win_get_cursor(0)[1] + view.first - 1
  local call = vim.iter(view.transcript.calls):rfind(function(one)
    return one.first <= number and number <= one.last
  end)
  if not call then
    return notify.info('no file and no output of a tool is here')
  end
  client.execute(view.folder, wire.commands.output, {
    sessionFileUri = view.session,
    folder = not view.session and vim.uri_from_fname(view.folder) or nil,
    iteration = call.iteration,
    toolCallId = call.id,
  }, function(err, result)
    if err then
      return notify.error(err.message)
    end
    browse.show(vim.uri_to_fname(result.uri))
    notify.info(result.text)
  end)
end

---@type ralph.Key[] those that are about the text
local reading = {
  require('ralph.keys').close,
  {
    'gf',
    'open the file under the cursor',
    function()
      if not browse.open(vim.b.ralph_folder, false) then
        local loop = status.in_folder(vim.b.ralph_folder)
        local afar = loop and loop.host and 'its files are on %s; at its end r offers to fetch them'
        notify.info(afar and afar:format(loop.host) or 'no file is named here')
      end
    end,
  },
  {
    '<CR>',
    'open it in the other window, or the whole output of the tool',
    function()
      if not browse.open(vim.b.ralph_folder, true) then
        open_whole()
      end
    end,
  },
  { 'O', 'open the whole output of the tool', open_whole },
  {
    ']]',
    'the next iteration',
    function()
      browse.walk('W')
    end,
  },
  {
    '[[',
    'the iteration before',
    function()
      browse.walk('bW')
    end,
  },
}

--- Gives an output buffer its keys: those of the loop act on the one of its folder.
---@param buf integer
function M.set_keys(buf)
  local view = views[vim.b[buf].ralph_output]
  local keys = vim.list_extend({}, reading)
  if view and not view.session then
    local function folder()
      return view.folder
    end
    vim.list_extend(
      keys,
      actions.keys(function()
        return status.in_folder(view.folder)
      end, folder)
    )
  end
  require('ralph.keys').set(buf, 'Ralph output', keys)
end

---@param name string
local function show(name)
  local view = named(name)
  local win = view.buf and vim.fn.bufwinid(view.buf) or -1
  if win ~= -1 then
    vim.api.nvim_set_current_win(win)
    return
  end
  local split = config.get().output.split
  local ok, problem = pcall(vim.cmd, split)
  if not ok then
    notify.error(('"%s" (output.split in vim.g.ralph) makes no window: %s'):format(split, problem))
    vim.cmd(config.defaults.output.split)
  end
  vim.cmd.edit(vim.fn.fnameescape(name))
  vim.cmd.normal({ 'G', bang = true })
end

--- Shows the output of a folder's loop, in the window that has it or a new one.
---@param folder string
function M.open(folder)
  local view = view_of(folder)
  local is_read = view.buf and vim.api.nvim_buf_is_loaded(view.buf)
  show(view.name)
  if is_read then
    restore(view) -- there may be more of it by now
  end
end

--- Shows a loop of the past.
---@param session string file URI of its session
function M.open_session(session)
  show(kept .. vim.uri_to_fname(session))
end

return M
