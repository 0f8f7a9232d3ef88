--- Words for loops: one line each, without side effects.
local wire = require('ralph.wire')

local M = {}

local endings = {
  max_iterations = 'stopped: iteration limit reached',
  max_cost = 'stopped: cost limit reached',
  max_time = 'stopped: time limit reached',
  cancelled = 'cancelled',
  state_removed = 'cancelled: state file removed',
  interrupted = 'interrupted',
  failures = 'failed: too many failures in a row',
  permission_denied = 'failed: the agent was refused permission',
  stalled = 'failed: the agent fell silent',
  backend_error = 'failed: the agent could not be started',
  bad_state_file = "failed: the state file can't be used",
}

--- 42s, 4m12s, 1h02m
---@param seconds number
---@return string
function M.duration(seconds)
  seconds = math.max(0, math.floor(seconds))
  if seconds < 60 then
    return seconds .. 's'
  elseif seconds < 3600 then
    return ('%dm%02ds'):format(seconds / 60, seconds % 60)
  end
  return ('%dh%02dm'):format(seconds / 3600, seconds / 60 % 60)
end

---@param usd number
---@return string
function M.dollars(usd)
  return ('$%.2f'):format(usd)
end

--- 3/50, or 3 where there is no limit
---@param iteration integer?
---@param max integer?
---@return string
function M.progress(iteration, max)
  local n = tostring(math.max(iteration or 1, 1))
  return max and max > 0 and n .. '/' .. max or n
end

--- Seconds since 1970 of a time as the sidecar writes it.
---@param time string? RFC 3339
---@return integer?
function M.epoch(time)
  local pattern = '^(%d+)-(%d+)-(%d+)[Tt](%d+):(%d+):(%d+)%.?%d*(.*)$'
  local year, month, day, hour, minute, second, zone = (time or ''):match(pattern)
  if not year then
    return nil
  end
  local days = M.days_since_1970(tonumber(year), tonumber(month), tonumber(day))
  local offset = 0
  local sign, zone_hour, zone_minute = zone:match('^([+-])(%d+):(%d+)$')
  if sign then
    offset = (tonumber(zone_hour) * 60 + tonumber(zone_minute)) * 60
    offset = sign == '-' and -offset or offset
  end
  return ((days * 24 + tonumber(hour)) * 60 + tonumber(minute)) * 60 + tonumber(second) - offset
end

--- Counts days in the proleptic Gregorian calendar; os.time would apply the
--- local time zone. Years begin in March here, so that the leap day is last.
---@param year integer
---@param month integer 1 to 12
---@param day integer
---@return integer
function M.days_since_1970(year, month, day)
  if month < 3 then
    year, month = year - 1, month + 12
  end
  local leap_days = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
  return year * 365 + leap_days + math.floor((153 * (month - 3) + 2) / 5) + day - 1 - 719468
end

--- Cuts a text to so many cells.
---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  if vim.api.nvim_strwidth(text) <= width then
    return text
  end
  local chars = vim.fn.strcharpart(text, 0, width)
  while vim.api.nvim_strwidth(chars) > width - 1 do
    chars = vim.fn.strcharpart(chars, 0, vim.fn.strchars(chars) - 1)
  end
  return chars .. '…'
end

---@param cost { amount: number, estimated?: boolean }?
---@return string?
local function cost_text(cost)
  if not cost then
    return nil -- unknown is not $0.00
  end
  return (cost.estimated and '≥' or '') .. M.dollars(cost.amount)
end

---@param loop ralph.Loop
---@param title_width integer
---@return string?
local function doing(loop, title_width)
  local word = wire.word(loop)
  if loop.state == 'waiting' then
    local resume_at = M.epoch(loop.retry and loop.retry.resumeAt)
    local why = loop.retry and loop.retry.text and ' (' .. loop.retry.text .. ')' or ''
    return word .. why .. (resume_at and ' until ' .. os.date('%H:%M', resume_at) or '')
  elseif word then
    return word
  elseif loop.tool then
    local title = loop.tool.title ~= loop.tool.name and ' ' .. loop.tool.title or ''
    return M.cut(loop.tool.name .. title, title_width)
  end
end

--- How a loop stands: "3/50 $1.42 bash go test 4m12s".
---@param loop ralph.Loop
---@param now integer seconds since 1970
---@param title_width integer cells for the running tool
---@return string
function M.loop(loop, now, title_width)
  local at = M.progress(loop.iteration, loop.maxIterations)
  if wire.is_left(loop) then
    return loop.text or wire.word(loop) .. ' at ' .. at
  elseif loop.state == 'ended' then
    local how = loop.stopReason == 'promise' and 'done' or endings[loop.stopReason] or 'ended'
    local cost = cost_text(loop.cost)
    return how .. (cost and ' ' .. cost or '')
  end
  local parts = { at, cost_text(loop.cost) or false, doing(loop, title_width) or false }
  local started = M.epoch(loop.startedAt)
  if started and wire.is_live(loop) then
    table.insert(parts, M.duration(now - started))
  end
  if not loop.owned then
    table.insert(parts, '(another editor)')
  end
  return table.concat(
    vim.tbl_filter(function(part)
      return part
    end, parts) --[[@as string[] ]],
    ' '
  )
end

--- How a loop ended: "done: DONE after 7 iterations, $3.10, 12m03s".
---@param ending table an update of the kind wire.updates.ending
---@return string
function M.ending(ending)
  local what = endings[ending.stopReason] or 'ended: ' .. tostring(ending.stopReason)
  if ending.stopReason == 'promise' then
    what = 'done: ' .. (ending.promise or '')
  end
  local count = ending.iterations or 0
  local parts = { ('%s after %d iteration%s'):format(what, count, count == 1 and '' or 's') }
  if ending.costUsd then
    table.insert(parts, M.dollars(ending.costUsd))
  end
  table.insert(parts, M.duration((ending.durationMs or 0) / 1000))
  if ending.error then
    table.insert(parts, ending.error)
  end
  for _, denial in ipairs(ending.denials or {}) do
    table.insert(parts, vim.trim('denied: ' .. denial.tool .. ' ' .. (denial.detail or '')))
  end
  return table.concat(parts, ', ')
end

--- The level of a loop's end for vim.notify.
---@param stop_reason string
---@return integer
function M.ending_level(stop_reason)
  if stop_reason == 'promise' then
    return vim.log.levels.INFO
  elseif vim.startswith(endings[stop_reason] or '', 'failed') then
    return vim.log.levels.ERROR
  end
  return vim.log.levels.WARN
end

--- Whether a loop ended at a limit that can be raised.
---@param stop_reason string?
---@return boolean
function M.is_capped(stop_reason)
  return stop_reason == 'max_iterations' or stop_reason == 'max_cost' or stop_reason == 'max_time'
end

return M
