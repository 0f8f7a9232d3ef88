--- Floating windows in the middle of the screen.
local M = {}

--- Shows a buffer, in a window that is no larger than the screen, and goes there.
---@param buf integer
---@param size { width: integer, height: integer } wanted, in cells
---@param labels { title: string, footer?: string }
---@return integer win
function M.open(buf, size, labels)
  local width = math.max(20, math.min(size.width, vim.o.columns - 8))
  local height = math.max(3, math.min(size.height, vim.o.lines - 8))
  return vim.api.nvim_open_win(buf, true, {
    relative = 'editor',
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    style = 'minimal',
    border = 'rounded',
    title = ' ' .. labels.title .. ' ',
    footer = labels.footer and ' ' .. labels.footer .. ' ',
  })
end

return M
