--- Reads what stands behind a subcommand: flags, with quotes as in a shell, and
--- a prompt, which is taken as it is.
local wire = require('ralph.wire')

local M = {}

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
function M.values(text)
  local values = {}
  local at = text:find('%S')
  while at do
    local value, stop = read_word(text, at)
    table.insert(values, value)
    at = text:find('%S', stop)
  end
  return values
end

--- Reads a flag, with its value if that is the next word.
---@param text string
---@param at integer
---@return string flag as it was typed
---@return integer stop
local function read_flag(text, at)
  local name, stop = read_word(text, at)
  local value_at = text:find('%S', stop)
  if value_at and vim.list_contains(wire.start_flags, name .. '=') then
    stop = select(2, read_word(text, value_at))
  end
  return text:sub(at, stop - 1), stop
end

--- Whether a quote that opens at one place closes right before another.
---@param text string
---@param at integer
---@param stop integer
---@return boolean
local function is_quoted(text, at, stop)
  local quote = text:sub(at, at)
  local inner = text:sub(at + 1, stop - 2)
  if quote == '"' then
    inner = inner:gsub('\\.', '')
  end
  return quote:match('["\']') ~= nil
    and stop - at >= 2
    and text:sub(stop - 1, stop - 1) == quote
    and not inner:find(quote, 1, true)
end

--- Where the quote ends that opens at a place. An apostrophe opens and closes none:
--- inside of a word a quote is a letter.
---@param text string
---@param at integer
---@return integer? stop behind it
local function quote_end(text, at)
  local quote, before = text:sub(at, at), text:sub(at - 1, at - 1)
  local letter = quote == "'" and '[\\%w\128-\255]' or '[\\%w]'
  if at > 1 and before:match(letter) then
    return nil
  end
  local next_at = at + 1
  while next_at <= #text do
    local char = text:sub(next_at, next_at)
    if char == '\\' and quote == '"' then
      next_at = next_at + 1
    elseif char == quote and not (quote == "'" and text:find('^[%w\128-\255]', next_at + 1)) then
      return next_at + 1
    end
    next_at = next_at + 1
  end
end

--- Where a word of a prompt ends: spaces inside of quotes belong to it.
---@param text string
---@param at integer where it begins
---@return integer stop behind it
local function prompt_word(text, at)
  while at <= #text and not text:find('^%s', at) do
    local stop = text:find('^["\']', at) and quote_end(text, at)
    at = stop or at + 1
  end
  return at
end

--- Takes the flags out of a text. What is left is the prompt, byte for byte; only
--- quotes around the whole of it go. What is quoted inside of it has no flags.
--- Behind a lone -- all is prompt.
---@param text string
---@return string flags
---@return string prompt
function M.split(text)
  text = text:gsub('^%s*/ralph%-loop%f[%s%z]', '')
  local flags, prompt = {}, ''
  local between = '' -- what stood between the prompt so far and what comes
  local at = 1
  while true do
    local gap, word = text:match('^(%s*)(%S+)', at)
    if not word then
      break
    end
    at, between = at + #gap, between == '' and gap or ' '
    if word == '--' then
      prompt = prompt .. (prompt ~= '' and ' ' or '') .. vim.trim(text:sub(at + 2))
      break
    elseif word:match('^%-.') then
      local flag
      flag, at = read_flag(text, at)
      table.insert(flags, flag)
    else
      local value, stop = read_word(text, at)
      if prompt == '' and is_quoted(text, at, stop) then
        local more, rest = M.split(text:sub(stop))
        if rest == '' then
          table.insert(flags, more)
          prompt = value
          break
        end
      end
      local word_end = prompt_word(text, at)
      prompt = prompt .. (prompt ~= '' and between or '') .. text:sub(at, word_end - 1)
      at, between = word_end, ''
    end
  end
  return vim.trim(table.concat(flags, ' ')), prompt
end

--- A text with lines of a buffer behind it, with a blank line between.
---@param text string?
---@param lines string?
---@return string? nil: neither
function M.join(text, lines)
  if not text or text == '' then
    return lines
  end
  return lines and text .. '\n\n' .. lines or text
end

return M
