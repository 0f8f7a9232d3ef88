--- What the plugin tells its user.
local format = require('ralph.format')
local idle = require('ralph.idle')

local M = {}

local reading_time = 1000 -- milliseconds that a message stays before the next takes its place
local max_kept = 200 -- messages
local max_waiting = 5 -- messages; of more the oldest are only kept

local focused = true

---@type { time: integer, text: string }[] what was told, the oldest first
local kept = {}
---@type { [1]: string, [2]: integer, [3]: string }[] what isn't told yet
local queue = {}

--- Follows whether the user looks at Neovim.
---@param now boolean
function M.set_focused(now)
  focused = now
end

--- Whether messages go to Neovim's own line, where what has no room in it, and
--- what comes while somebody types, asks for a Return and takes a key for it.
---@return boolean
local function is_plain()
  local source = debug.getinfo(vim.notify, 'S').source
  return source == '?' or vim.startswith(source, '@vim/')
end

--- A message in one line, with where its rest is.
---@param text string
---@param hint string what stands behind it in any case
---@return string
local function fit(text, hint)
  local line = text:gsub('%s*\n%s*', ' · ')
  local room = vim.v.echospace
  if vim.api.nvim_strwidth(line .. hint) <= room then
    return line .. hint
  end
  local rest = hint
  if rest == '' and room >= 50 then
    rest = ' (:Ralph messages)'
  elseif room - #rest < 20 then
    rest = ''
  end
  return format.cut(line, math.max(room - #rest, 1)) .. rest
end

--- Tells what waits, one after another.
local function tell_next()
  local text, level, hint = unpack(queue[1])
  vim.notify(fit(text, hint), level, { title = 'Ralph' })
  vim.defer_fn(function()
    table.remove(queue, 1)
    if queue[1] then
      idle.run(tell_next)
    end
  end, reading_time)
end

---@param message string
---@param level integer
---@param hint? string
local function show(message, level, hint)
  hint = hint or ''
  local text = message:match('^Ralph[ :]') and message or 'Ralph: ' .. message
  table.insert(kept, { time = os.time(), text = text })
  if #kept > max_kept then
    table.remove(kept, 1)
  end
  if not is_plain() then
    return vim.schedule(function()
      vim.notify(text .. hint, level, { title = 'Ralph' })
    end)
  end
  table.insert(queue, { text, level, hint })
  if #queue > max_waiting then
    table.remove(queue, 2) -- the first is on the screen
  end
  if #queue == 1 then
    idle.run(tell_next)
  end
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

--- Tells what an update says, if the user wants to hear of it.
---@param prefix string
---@param update ralph.Said
---@param always? boolean also while Neovim has the focus
---@param hint? string what stands behind it in any case
function M.said(prefix, update, always, hint)
  local when = require('ralph.config').get().notify
  if when == 'always' or when == 'unfocused' and (always or not focused) then
    show(prefix .. update.text, levels[update.class] or vim.log.levels.INFO, hint)
  end
end

--- All that was told, with its time.
---@return string[] lines
function M.history()
  local lines = {}
  for _, one in ipairs(kept) do
    local text = os.date('%H:%M:%S ', one.time) .. one.text:gsub('\n', '\n         ')
    vim.list_extend(lines, vim.split(text, '\n', { plain = true }))
  end
  return lines
end

return M
