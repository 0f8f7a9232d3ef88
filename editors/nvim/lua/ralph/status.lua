--- How the loops stand, as the sidecar said last, and the status line's text.
local config = require('ralph.config')
local format = require('ralph.format')
local wire = require('ralph.wire')

local M = {}

---@type ralph.Status
local empty = { seq = 0, health = 'ok', busy = false, message = '', loops = {} }

local redraw_interval = 250 -- milliseconds between two redraws, at least
local tick_interval = 1000 -- milliseconds between two looks at the clock

---@type ralph.Status
local snapshot = empty
---@type ralph.Loop[] those of it that somebody drives
local live = {}
---@type table<string, string> the status line's text by folder
local texts = {}
---@type string the text for folders without a loop
local others = ''

local last_redraw = -redraw_interval
local redraw_pending = false

--- Tells status lines to show what is new, at most every redraw_interval.
local function redraw()
  if redraw_pending then
    return
  end
  redraw_pending = true
  local wait = math.max(0, last_redraw + redraw_interval - vim.uv.now())
  vim.defer_fn(M.show, wait)
end

--- Shows at once what is new, if anything is.
function M.show()
  if not redraw_pending then
    return
  end
  redraw_pending = false
  last_redraw = vim.uv.now()
  vim.cmd.redrawstatus({ bang = true })
  vim.api.nvim_exec_autocmds('User', { pattern = 'RalphStatus', modeline = false })
end

--- A text about a loop with the time behind it that it has run until now: waits, pauses and
--- the time in which nobody drove it don't count.
---@param loop ralph.Loop
---@param text string
---@return string
function M.with_clock(loop, text)
  local seconds = (loop.time and loop.time.spentMs or 0) / 1000
  local begun = loop.state == 'running' and format.epoch(loop.iterationStartedAt)
  if begun then
    seconds = seconds + math.max(0, os.time() - begun)
  end
  local is_shown = loop.live and (begun or seconds >= 1)
  return is_shown and text .. ' · ' .. format.elapsed(seconds) or text
end

--- Writes the texts anew, and redraws if one changed.
local function refresh()
  local settings = config.get().statusline --[[@as ralph.StatuslineConfig]]
  local function line(loop)
    local cut = format.cut(loop.line or '', settings.width)
    return M.with_clock(loop, vim.trim(settings.prefix .. ' ' .. cut))
  end
  local fresh = {}
  for _, loop in ipairs(snapshot.loops) do
    fresh[wire.folder(loop)] = line(loop)
  end
  local rest = ''
  if #live == 1 then
    rest = line(live[1])
  elseif #live > 1 then
    rest = vim.trim(settings.prefix .. snapshot.message:sub(#'Ralph' + 1))
  end
  if rest ~= others or not vim.deep_equal(fresh, texts) then
    texts, others = fresh, rest
    vim.g.ralph_status = M.statusline()
    redraw()
  end
end

---@type uv.uv_timer_t?
local ticker

--- Lets the elapsed time go on while a loop does; the sidecar has no heartbeat.
local function keep_ticking()
  if live[1] and not ticker then
    ticker = assert(vim.uv.new_timer())
    ticker:start(tick_interval, tick_interval, vim.schedule_wrap(refresh))
  elseif not live[1] and ticker then
    ticker:stop()
    ticker:close()
    ticker = nil
  end
end

--- Takes a snapshot from the sidecar.
---@param status ralph.Status
function M.set(status)
  if status.text ~= snapshot.text then
    redraw()
  end
  snapshot = status
  live = vim.tbl_filter(function(loop)
    return loop.live
  end, status.loops)
  refresh()
  keep_ticking()
end

--- Forgets everything: there is no sidecar any more.
function M.clear()
  M.set(empty)
end

--- The last snapshot. Don't change it.
---@return ralph.Status
function M.get()
  return snapshot
end

--- The loop of a folder, running or not.
---@param folder string
---@return ralph.Loop?
function M.in_folder(folder)
  for _, loop in ipairs(snapshot.loops) do
    if wire.folder(loop) == folder then
      return loop
    end
  end
end

--- The loop with an id.
---@param loop_id string
---@return ralph.Loop?
function M.by_id(loop_id)
  for _, loop in ipairs(snapshot.loops) do
    if loop.loopId == loop_id then
      return loop
    end
  end
end

--- The branches of the loops that work in worktrees.
---@return string[]
function M.branches()
  return vim
    .iter(snapshot.loops)
    :map(function(loop)
      return loop.worktree and loop.worktree.branch
    end)
    :totable()
end

--- What a user is told of a loop begins with it: which one where there are several.
---@param loop ralph.Loop?
---@return string
function M.name(loop)
  return loop and loop.name or 'Ralph'
end

--- The loops that this Neovim drives and that go on.
---@return ralph.Loop[]
function M.ours()
  return vim.tbl_filter(function(loop)
    return loop.owned
  end, live)
end

--- The text for a status line: of the current folder's loop, else of the others.
--- Cheap enough for every redraw.
---@return string
function M.statusline()
  if next(texts) == nil then
    return ''
  end
  local folder = config.get().root and config.folder() or vim.fn.getcwd()
  return texts[folder] or others
end

return M
