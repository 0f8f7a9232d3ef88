--- What a clock and a narrow window need; all other words are the sidecar's.
local M = {}

--- A time that goes on, in full seconds: 42s, 4m12s, 1h02m. A test compares it
--- with testdata/wire/words.json.
---@param seconds number
---@return string
function M.elapsed(seconds)
  seconds = math.max(0, math.floor(seconds))
  if seconds < 60 then
    return seconds .. 's'
  elseif seconds < 3600 then
    return ('%dm%02ds'):format(seconds / 60, seconds % 60)
  end
  return ('%dh%02dm'):format(seconds / 3600, seconds / 60 % 60)
end

--- Seconds since 1970 of a time as the sidecar writes it.
---@param time string? RFC 3339 in UTC
---@return integer?
function M.epoch(time)
  local pattern = '^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)'
  local year, month, day, hour, min, sec = (time or ''):match(pattern)
  if not year then
    return nil
  end
  local fields =
    { year = year, month = month, day = day, hour = hour, min = min, sec = sec, isdst = false }
  local here = os.time(fields) -- as if it were of the local zone
  return here + os.difftime(here, os.time(os.date('!*t', here) --[[@as osdate]]))
end

--- Something counted: 1 line, 49,871 lines.
---@param number integer
---@param noun string
---@return string
function M.count(number, noun)
  local digits = tostring(number):reverse():gsub('(%d%d%d)', '%1,'):reverse():gsub('^,', '')
  return ('%s %s%s'):format(digits, noun, number == 1 and '' or 's')
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

return M
