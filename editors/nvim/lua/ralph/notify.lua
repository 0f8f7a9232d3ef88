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
  local text = message:match('^Ralph[ :]') and message or 'Ralph: ' .. message
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

---@type table<string, integer> by the class of what is said
local levels = { warning = vim.log.levels.WARN, error = vim.log.levels.ERROR }

--- Tells what an update says, if the user wants to hear of it: as much as fits
--- into a line beside the title, as a longer message would stop whoever types.
--- The output has all of it.
---@param prefix string
---@param update ralph.Said
---@param always? boolean also while Neovim has the focus
---@param hint? string what stands behind it in any case
function M.said(prefix, update, always, hint)
  local when = require('ralph.config').get().notify
  if when == 'always' or when == 'unfocused' and (always or not focused) then
    hint = hint or ''
    local width = math.max(vim.o.columns - 20 - #hint, 20)
    local text = require('ralph.format').cut(prefix .. update.text, width) .. hint
    show(text, levels[update.class] or vim.log.levels.INFO)
  end
end

return M
