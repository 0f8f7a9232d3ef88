--- The current file beside what it was before an iteration, in diff mode.
local changes = require('ralph.changes')
local notify = require('ralph.notify')

local M = {}

--- What ends a line, by 'fileformat'.
local newlines = { unix = '\n', dos = '\r\n', mac = '\r' }

--- Ends the diffs of the current tab page. The cursor is in a file's window then.
local function close_all()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.b[vim.api.nvim_win_get_buf(win)].ralph_base then
      vim.api.nvim_win_close(win, true)
    end
  end
end

--- Makes the window of a file the current one.
---@param path string absolute
---@return boolean
local function go_to(path)
  local win = vim.fn.bufwinid(vim.fn.bufadd(path))
  if win ~= -1 then
    vim.api.nvim_set_current_win(win)
    return true
  end
  local command = 'edit'
  if vim.bo.buftype ~= '' then -- the quickfix list, say: its window stays
    win = vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(one)
      return vim.bo[vim.api.nvim_win_get_buf(one)].buftype == ''
    end)
    command = win and command or 'aboveleft split'
    vim.api.nvim_set_current_win(win or 0)
  end
  local ok, problem = pcall(vim.cmd, command .. ' ' .. vim.fn.fnameescape(path))
  if not ok then
    notify.error(tostring(problem))
  end
  return ok
end

--- Ends diff mode in a window when its other side goes, and the other side when
--- the window goes or shows another file.
---@param base integer buffer
---@param win integer of the file
---@param work integer buffer of the file
local function tie(base, win, work)
  local group = vim.api.nvim_create_augroup('ralph.diff.' .. base, { clear = true })
  local has_folds = vim.wo[win].foldenable
  local function leave()
    vim.cmd.diffoff()
    vim.wo[0][0].foldenable = has_folds -- which :diffoff forgets where they are made by hand
  end
  vim.api.nvim_create_autocmd('BufWipeout', {
    group = group,
    buffer = base,
    callback = function()
      vim.api.nvim_del_augroup_by_id(group)
      pcall(vim.keymap.del, 'n', 'dp', { buffer = work })
      if vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == work then
        return vim.api.nvim_win_call(win, leave)
      end
      if not vim.api.nvim_buf_is_valid(work) then
        return -- wiped out, and its options with it
      end
      -- With the buffer a window gets back the options that it had.
      vim.api.nvim_create_autocmd('BufWinEnter', { buffer = work, once = true, callback = leave })
    end,
  })
  vim.api.nvim_create_autocmd({ 'WinClosed', 'BufWinEnter' }, {
    group = group,
    callback = vim.schedule_wrap(function()
      local is_shown = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == work
      if not is_shown and vim.api.nvim_buf_is_valid(base) then
        vim.api.nvim_buf_delete(base, { force = true })
      end
    end),
  })
end

--- Shows a text left of the current window, which has the file, and compares both.
---@param name string
---@param text string
---@param path string absolute
---@return integer base its buffer
local function compare(name, text, path)
  local win, work = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local base = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(base, name)
  local newline = newlines[vim.bo[work].fileformat]
  local lines = vim.split(text, newline, { plain = true })
  if lines[#lines] == '' then
    table.remove(lines)
  end
  vim.api.nvim_buf_set_lines(base, 0, -1, false, lines)
  vim.b[base].ralph_base = path
  vim.bo[base].bufhidden = 'wipe'
  vim.bo[base].undolevels = -1
  vim.bo[base].modifiable = false
  vim.api.nvim_open_win(base, false, { split = 'left', win = win })
  vim.bo[base].filetype = vim.bo[work].filetype
  for _, side in ipairs(vim.fn.win_findbuf(base)) do
    vim.api.nvim_win_call(side, vim.cmd.diffthis)
  end
  tie(base, win, work)
  vim.cmd.diffthis()
  return base
end

--- Lets |dp| keep the block under the cursor: the other side has it then, and the
--- review is compared with that.
---@param folder string
---@param path string in it
---@param base integer buffer
local function map_keep(folder, path, base)
  local work = vim.api.nvim_get_current_buf()
  local function keep()
    vim.bo[base].modifiable = true
    vim.cmd.normal({ 'dp', bang = true })
    vim.bo[base].modifiable = false
    local newline = newlines[vim.bo[work].fileformat]
    local lines = vim.api.nvim_buf_get_lines(base, 0, -1, false)
    local text = table.concat(lines, newline) .. (vim.bo[work].endofline and newline or '')
    changes.mark(folder, { paths = { path }, text = text })
  end
  vim.keymap.set('n', 'dp', keep, { buffer = work, desc = 'Ralph: keep this change' })
end

--- Opens the diff of a file.
---@param folder string
---@param chosen ralph.Chosen without an iteration: since the user kept it last, or the loop began
function M.open(folder, chosen)
  local current = vim.b.ralph_base or vim.api.nvim_buf_get_name(0)
  if not chosen.path and (current == '' or not vim.b.ralph_base and vim.bo.buftype ~= '') then
    return notify.error('there is no file in this window: :Ralph diff [n] FILE')
  end
  local path = chosen.path or changes.relative(folder, current)
  local absolute = vim.fs.joinpath(folder, path)
  changes.list(folder, {}, function(result)
    local file = vim.iter(result.files):find(function(one)
      return vim.uri_to_fname(one.uri) == absolute
    end) or { path = path }
    local argument = { path = file.from or file.path, before = chosen.iteration }
    changes.file(folder, argument, function(err, text)
      if err or not text then
        return notify.error(err and err.message or path .. ' is not text')
      end
      close_all()
      if go_to(absolute) then
        local moment = chosen.iteration or 'base'
        local name = ('ralph-base://%s/%s/%s'):format(result.loopId, moment, path)
        local base = compare(name, text, absolute)
        if not chosen.iteration and not file.from then
          map_keep(folder, path, base)
        end
      end
    end)
  end)
end

return M
