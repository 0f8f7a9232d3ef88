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

--- Tells a loop's end, if the user wants to hear of it.
---@param message string
---@param level integer
function M.ending(message, level)
  local when = require('ralph.config').get().notify
  if when == 'always' or when == 'unfocused' and not focused then
    show(message, level)
  end
end

return M
