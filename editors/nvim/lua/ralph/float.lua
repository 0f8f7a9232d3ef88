--- Floating windows: in the middle of the screen, or in its corner beside what the
--- user does.
local format = require('ralph.format')

local M = {}

local corner = { width = 50, height = 8 } -- at most, but for half of the screen

---@class ralph.Spot
---@field size { width: integer, height: integer } wanted, in cells
---@field corner? boolean

--- Whether a window in a corner would cover the newest line of an output.
---@param config vim.api.keyset.win_config
---@return boolean
local function covers_newest(config)
  local height, width = config.height + 2, config.width + 2 -- with the border
  local top = config.anchor == 'SE' and config.row - height or config.row
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):any(function(win)
    if vim.bo[vim.api.nvim_win_get_buf(win)].filetype ~= 'ralph' then
      return false
    end
    local row, column = unpack(vim.api.nvim_win_get_position(win))
    local last = row + vim.api.nvim_win_get_height(win) - 1
    local right = column + vim.api.nvim_win_get_width(win)
    return last >= top and last < top + height and right > config.col - width
  end)
end

--- Where a window goes that is no larger than the screen. The corner is the lower one, or the upper
--- one where an output ends in that.
---@param spot ralph.Spot
---@return vim.api.keyset.win_config
local function place(spot)
  local width = math.max(20, math.min(spot.size.width, vim.o.columns - 8))
  local height = math.max(3, math.min(spot.size.height, vim.o.lines - 6))
  if spot.corner then
    local half = math.floor(vim.o.columns / 2)
    local config = {
      relative = 'editor',
      anchor = 'SE',
      width = math.min(width, math.max(corner.width, half)),
      height = math.min(spot.size.height, height, corner.height),
      row = vim.o.lines - vim.o.cmdheight - 1,
      col = vim.o.columns,
    }
    if covers_newest(config) then
      config.anchor = 'NE'
      config.row = vim.api.nvim_win_get_position(vim.fn.win_getid(1))[1] -- below the tabs
    end
    return config
  end
  return {
    relative = 'editor',
    anchor = 'NW',
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
  }
end

---@type table<integer, ralph.Spot> by window
local spots = {}

--- How large a window has to be for lines, as long as none wraps.
---@param lines string[]
---@return { width: integer, height: integer }
function M.fit(lines)
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line) + 2)
  end
  return { width = width, height = #lines }
end

--- Wraps lines between words, in a window that is as high as that takes.
---@param win integer
---@return boolean are all lines seen?
function M.wrap(win)
  for name, value in pairs({ wrap = true, linebreak = true, fillchars = 'lastline:.' }) do
    vim.wo[win][0][name] = value
  end
  spots[win].size.height = vim.api.nvim_win_text_height(win, {}).all
  local config = place(spots[win])
  vim.api.nvim_win_set_config(win, config)
  return config.height >= spots[win].size.height
end

--- A window's place with its labels.
---@param spot ralph.Spot
---@param labels { title: string, footer?: string }
---@return vim.api.keyset.win_config
local function labelled(spot, labels)
  local config = place(spot)
  config.title = ' ' .. format.cut(labels.title, config.width - 2) .. ' '
  config.footer = labels.footer and ' ' .. labels.footer .. ' '
  return config
end

--- Gives a window another place, size and labels.
---@param win integer
---@param spot ralph.Spot
---@param labels { title: string, footer?: string }
function M.move(win, spot, labels)
  spots[win] = spot
  vim.api.nvim_win_set_config(win, labelled(spot, labels))
end

--- Shows a buffer in a window and goes there, but not into the corner. The buffer goes
--- with the window.
---@param buf integer
---@param size { width: integer, height: integer } wanted, in cells
---@param labels { title: string, footer?: string }
---@param is_corner? boolean
---@return integer win
function M.open(buf, size, labels, is_corner)
  vim.bo[buf].bufhidden = 'wipe'
  local spot = { size = size, corner = is_corner }
  local looks = { style = 'minimal', border = 'rounded' }
  local config = vim.tbl_extend('error', labelled(spot, labels), looks)
  local win = vim.api.nvim_open_win(buf, not is_corner, config)
  spots[win] = spot
  local group = vim.api.nvim_create_augroup('ralph.float.' .. win, { clear = true })
  vim.api.nvim_create_autocmd({ 'VimResized', 'WinResized', 'BufWinEnter', 'TabEnter' }, {
    group = group,
    callback = function(event)
      -- One in the middle is the user's to move and resize, until the screen has another size.
      local is_due = event.event == 'VimResized' or spots[win] and spots[win].corner
      if is_due and vim.api.nvim_win_is_valid(win) then
        vim.api.nvim_win_set_config(win, place(spots[win]))
      end
    end,
  })
  vim.api.nvim_create_autocmd('WinClosed', {
    group = group,
    pattern = tostring(win),
    callback = function()
      spots[win] = nil
      vim.api.nvim_del_augroup_by_id(group)
    end,
  })
  return win
end

return M
