--- Limits as flags: "--max-iterations=80 --max-time 2h".
local M = {}

---@param text string
---@return integer?
local function count(text)
  return text:match('^%d+$') and tonumber(text) or nil
end

---@param text string
---@return number?
local function usd(text)
  return tonumber((text:gsub('^%$', '')))
end

local units = { h = 3600000, m = 60000, s = 1000, ms = 1 }

--- Milliseconds of "4h", "1h30m", "90s", or nil.
---@param text string
---@return integer?
function M.milliseconds(text)
  if text == '0' then
    return 0
  end
  local sum, rest = 0, text
  while rest ~= '' do
    local number, unit, tail = rest:match('^([%d.]+)(%a+)(.*)$')
    if not tonumber(number) or not units[unit] then
      return nil
    end
    sum, rest = sum + tonumber(number) * units[unit], tail
  end
  return text ~= '' and math.floor(sum) or nil
end

--- Milliseconds as M.milliseconds reads them, in the largest unit that they
--- are a whole number of.
---@param milliseconds integer
---@return string
function M.duration(milliseconds)
  for _, unit in ipairs({ 'h', 'm', 's' }) do
    if milliseconds % units[unit] == 0 then
      return ('%d%s'):format(milliseconds / units[unit], unit)
    end
  end
  return ('%dms'):format(milliseconds)
end

---@param text string
---@return string
local function text_itself(text)
  return text
end

--- The flags: the key on the wire, how a value is read, what it must be.
local flags = {
  ['--max-iterations'] = { 'maxIterations', count, 'a whole number' },
  ['--max-failures'] = { 'maxConsecutiveFailures', count, 'a whole number' },
  ['--max-cost'] = { 'maxCostUsd', usd, 'an amount of dollars' },
  ['--max-time'] = { 'maxDurationMs', M.milliseconds, 'a duration like 90m' },
  ['--idle-timeout'] = { 'idleTimeoutMs', M.milliseconds, 'a duration like 10m' },
  ['--completion-promise'] = { 'completionPromise', text_itself, 'a text' },
}

--- The names of the flags, each with "=".
---@return string[]
function M.flags()
  local names = vim.tbl_map(function(name)
    return name .. '='
  end, vim.tbl_keys(flags))
  table.sort(names)
  return names
end

--- Reads a word with its quotes, as the sidecar does.
---@param text string
---@param at integer where it begins
---@return string value
---@return integer stop behind it
local function read_word(text, at)
  local value, quote = '', nil
  while at <= #text do
    local char = text:sub(at, at)
    if char == '\\' and quote ~= "'" then
      at = at + 1
      local escaped = text:sub(at, at)
      local stays = quote and not escaped:match('["\\]')
      value = value .. (stays and '\\' or '') .. escaped
    elseif char == quote then
      quote = nil
    elseif not quote and char:match('["\']') then
      quote = char
    elseif not quote and char:match('%s') then
      break
    else
      value = value .. char
    end
    at = at + 1
  end
  return value, at
end

--- The words of a text without their quotes.
---@param text string
---@return string[]
local function words_of(text)
  local values = {}
  local at = text:find('%S')
  while at do
    local value, stop = read_word(text, at)
    table.insert(values, value)
    at = text:find('%S', stop)
  end
  return values
end

--- Reads limits from what was typed.
---@param text string
---@return table? limits keys as on the wire
---@return string? problem
function M.parse(text)
  local words = words_of(text)
  local limits = {}
  local index = 1
  while index <= #words do
    local name, value = words[index]:match('^(%-%-[%w-]+)=(.*)$')
    name = name or words[index]
    local flag = flags[name]
    if not flag then
      return nil, ('%s is no limit: there are %s'):format(name, table.concat(M.flags(), ' '))
    end
    if not value then
      index = index + 1
      value = words[index] or ''
    end
    local parsed = flag[2](value)
    if parsed == nil then
      return nil, ('%s must be %s, not "%s"'):format(name, flag[3], value)
    end
    limits[flag[1]] = parsed
    index = index + 1
  end
  return limits
end

return M
