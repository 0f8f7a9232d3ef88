--- What the plugin tells its user.
local M = {}

local focused = true

--- Follows whether the user looks at Neovim.
---@param now boolean
function M.set_focused(now)
  focused = now
end

---@param message string
---@param level integer
local function show(message, level)
  local text = message:match('^Ralph ') and message or 'Ralph: ' .. message
  vim.schedule(function()
    vim.notify(text, level, { title = 'Ralph' })
  end)
end

---@param message string
function M.info(message)
  show(message, vim.log.levels.INFO)
end

---@param message string
function M.warn(message)
  show(message, vim.log.levels.WARN)
end

---@param message string
function M.error(message)
  show(message, vim.log.levels.ERROR)
end

--- As much of a text as fits into a line beside the title: a longer message
--- would stop whoever types.
---@param text string
---@return string
local function fit(text)
  local width = math.max(vim.o.columns - 20, 20)
  if vim.fn.strdisplaywidth(text) <= width then
    return text
  end
  while vim.fn.strdisplaywidth(text) > width - 1 do
    text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
  end
  return text .. '…'
end

---@type table<string, integer> by the class of an update
local levels = { warning = vim.log.levels.WARN, error = vim.log.levels.ERROR }

--- Tells what an update says; the output has all of it.
---@param update ralph.Update
function M.said(update)
  if require('ralph.config').get().notify ~= 'never' then
    show(fit(update.text or ''), levels[update.class] or vim.log.levels.INFO)
  end
end

--- Tells a loop's end, if the user wants to hear of it; the output has all of it.
---@param message string
---@param level integer
function M.ending(message, level)
  local when = require('ralph.config').get().notify
  if when == 'always' or when == 'unfocused' and not focused then
    show(fit(message), level)
  end
end

return M
