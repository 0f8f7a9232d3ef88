--- The output buffers: one for each folder, with what its last loop did.
local Transcript = require('ralph.transcript')
local client = require('ralph.client')
local config = require('ralph.config')
local notify = require('ralph.notify')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

local flush_interval = 50 -- milliseconds between two changes of a buffer
local flush_lines = 1000 -- lines that one change adds at most

---@class ralph.View
---@field folder string
---@field loop_id? string
---@field transcript ralph.Transcript
---@field buf? integer
---@field first integer number of the transcript's line that the buffer begins with
---@field last integer number of the line that it ends with; first - 1: only a hint is shown
---@field headings integer iterations' headings that the windows have seen
---@field scheduled boolean

---@type table<string, ralph.View>
local views = {}

local hint = 'No loop has run here yet. :Ralph start PROMPT begins one.'

---@param folder string
---@return ralph.View
local function view_of(folder)
  local view = views[folder]
  if not view then
    view = {
      folder = folder,
      transcript = Transcript.new(config.get().output),
      first = 1,
      last = 0,
      headings = 0,
      scheduled = false,
    }
    views[folder] = view
  end
  return view
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
    view.first, view.last = transcript.first, transcript.first - 1
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

--- Closes the folds of iterations that are over, but for the windows that the
--- user scrolls in.
---@param view ralph.View
---@param windows integer[]
local function fold_older(view, windows)
  local headings = view.transcript.headings
  if #headings == view.headings then
    return
  end
  view.headings = #headings
  for _, win in ipairs(windows) do
    vim.api.nvim_win_call(win, function()
      for index = 1, #headings - 1 do
        local row = headings[index] - view.first + 1
        if row >= 1 and vim.fn.foldclosed(row) == -1 then
          pcall(vim.cmd.foldclose, { range = { row } })
        end
      end
    end)
  end
end

local schedule

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
  fold_older(view, windows)
  if transcript.last > view.last then
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

--- Begins anew for a loop; one that goes on keeps its output.
---@param source ralph.Source
function M.begin(source)
  local view = view_of(source.folder)
  if view.loop_id and view.loop_id ~= source.loopId then
    view.transcript = Transcript.new(config.get().output)
    view.first, view.last, view.headings = 1, 0, 0
    if view.buf and vim.api.nvim_buf_is_valid(view.buf) then
      set_lines(view.buf, 0, -1, { hint })
    end
  end
  view.loop_id = source.loopId
end

--- Adds an update.
---@param source ralph.Source
---@param update ralph.Update
function M.update(source, update)
  local view = view_of(source.folder)
  view.transcript:add(update)
  schedule(view)
end

--- Says that pieces were left out.
---@param source ralph.Source
---@param count integer
function M.dropped(source, count)
  local view = view_of(source.folder)
  view.transcript:dropped(count)
  schedule(view)
end

--- The level of a line of the current buffer, for 'foldexpr'.
---@return string|integer
function M.foldexpr()
  local view = views[vim.b.ralph_folder]
  if not view then
    return 0
  end
  local number = vim.v.lnum + view.first - 1
  local headings = view.transcript.headings
  if #headings == 0 or number < headings[1] then
    return 0
  end
  return vim.list_contains(headings, number) and '>1' or 1
end

--- A closed iteration: its heading, with cost and time, and its length.
---@return string
function M.foldtext()
  local lines = vim.v.foldend - vim.v.foldstart
  return ('%s · %d lines '):format(vim.fn.getline(vim.v.foldstart), lines)
end

--- Reads a loop back from its session file.
---@param view ralph.View
---@param loop ralph.Loop
---@param cursor? string
local function read_back(view, loop, cursor)
  local argument = { cursor = cursor }
  if loop.sessionFileUri then
    argument.sessionFileUri = loop.sessionFileUri
  else
    argument.loopId = loop.loopId
  end
  client.execute(view.folder, wire.commands.transcript, argument, function(err, result)
    if err or not result then
      notify.warn('the output could not be read back: ' .. (err and err.message or 'no answer'))
      return
    end
    if view.loop_id ~= nil and not cursor then
      return -- a loop began meanwhile
    end
    for _, update in ipairs(result.updates or {}) do
      view.transcript:add(update)
    end
    schedule(view)
    if result.nextCursor then
      read_back(view, loop, result.nextCursor)
    else
      view.loop_id = loop.loopId
    end
  end)
end

--- Fills a view from history when this Neovim has not seen its loop.
---@param view ralph.View
local function restore(view)
  local loop = status.in_folder(view.folder)
  if view.loop_id or not loop or not client.has_command(wire.commands.transcript) then
    return
  end
  if loop.sessionFileUri or loop.loopId then
    read_back(view, loop)
  end
end

--- Makes a buffer the output of a folder: what BufReadCmd of ralph:// does.
---@param buf integer
---@param folder string
function M.read(buf, folder)
  local view = view_of(folder)
  vim.b[buf].ralph_folder = folder
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].undolevels = -1
  vim.bo[buf].filetype = 'ralph'
  view.buf = buf
  view.first, view.last = view.transcript.first, view.transcript.first - 1
  set_lines(buf, 0, -1, { hint })
  restore(view)
  flush(view)
end

--- Shows the output of a folder's loop, in the window that has it or a new one.
---@param folder string
function M.open(folder)
  local view = view_of(folder)
  local win = view.buf and vim.fn.bufwinid(view.buf) or -1
  if win ~= -1 then
    vim.api.nvim_set_current_win(win)
    return
  end
  vim.cmd(config.get().output.split)
  vim.cmd.edit(vim.fn.fnameescape('ralph://' .. folder))
  view.headings = 0
  vim.cmd.normal({ 'G', bang = true })
  fold_older(view, { vim.api.nvim_get_current_win() })
end

return M
