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
