--- Waits until the user isn't in the middle of typing.
local M = {}

---@type (fun())[] what waits
local waiting = {}

--- Whether the user isn't in the middle of typing.
---@return boolean
function M.is_idle()
  local now = vim.api.nvim_get_mode()
  return now.mode == 'n' and not now.blocking
end

local keys = 0 -- that the user has typed
vim.on_key(function(_, typed)
  if typed and typed ~= '' then
    keys = keys + 1
  end
end, vim.api.nvim_create_namespace('ralph.idle'))

---@type integer? how many keys there were when the command was given that is being answered
local asked_at

--- A function that takes the answer to a command of the user's, from now on.
---@param answer fun(...)
---@return fun(...)
function M.answer(answer)
  local at = asked_at or keys -- an answer may bring a command of its own
  return function(...)
    local before = asked_at
    asked_at = at
    local ok, problem = pcall(answer, ...)
    asked_at = before
    if not ok then
      error(problem, 0)
    end
  end
end

--- Whether the user has gone on to something else since the command that is being answered.
---@return boolean
function M.is_late()
  return asked_at ~= nil and asked_at ~= keys
end

--- Does in one turn what waits: what one of them shows may be what the next waits for.
local function look()
  if #waiting == 0 then
    return
  elseif M.is_idle() then
    table.remove(waiting, 1)()
  end
  if #waiting > 0 then
    vim.api.nvim_create_autocmd({ 'SafeState', 'ModeChanged' }, {
      group = vim.api.nvim_create_augroup('ralph.idle', { clear = true }),
      once = true,
      callback = vim.schedule_wrap(look),
    })
  end
end

--- Calls a function when the user is in normal mode and nothing is half typed. What
--- comes by itself must not swallow keys that are meant for something else.
---@param act fun()
function M.run(act)
  table.insert(waiting, act)
  vim.schedule(look)
end

return M
