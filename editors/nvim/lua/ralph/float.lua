--- Floating windows in the middle of the screen.
local M = {}

--- Where a window goes that is no larger than the screen.
---@param size { width: integer, height: integer } wanted, in cells
---@return vim.api.keyset.win_config
local function place(size)
  local width = math.max(20, math.min(size.width, vim.o.columns - 8))
  local height = math.max(3, math.min(size.height, vim.o.lines - 6))
  return {
    relative = 'editor',
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
  }
end

--- Shows a buffer in a window and goes there. The buffer goes with the window.
---@param buf integer
---@param size { width: integer, height: integer } wanted, in cells
---@param labels { title: string, footer?: string }
---@return integer win
function M.open(buf, size, labels)
  vim.bo[buf].bufhidden = 'wipe'
  local looks = {
    style = 'minimal',
    border = 'rounded',
    title = ' ' .. labels.title .. ' ',
    footer = labels.footer and ' ' .. labels.footer .. ' ',
  }
  local win = vim.api.nvim_open_win(buf, true, vim.tbl_extend('error', place(size), looks))
  local group = vim.api.nvim_create_augroup('ralph.float.' .. win, { clear = true })
  vim.api.nvim_create_autocmd('VimResized', {
    group = group,
    callback = function()
      if vim.api.nvim_win_is_valid(win) then
        vim.api.nvim_win_set_config(win, place(size))
      end
    end,
  })
  vim.api.nvim_create_autocmd('WinClosed', {
    group = group,
    pattern = tostring(win),
    callback = function()
      vim.api.nvim_del_augroup_by_id(group)
    end,
  })
  return win
end

return M
