--- From a loop's output to the files that it names, and from iteration to iteration.
local notify = require('ralph.notify')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

---@class ralph.Place
---@field path string
---@field line? integer
---@field column? integer

--- A path with what stands behind it: app.go:3:7, app.go:3, app.go(3,7), app.go#L3.
local forms = { '^(.-):(%d+):(%d+)', '^(.-):(%d+)', '^(.-)%((%d+),?(%d*)%)', '^(.-)#L(%d+)' }

---@param folder string
---@param path string
---@return string? absolute nil: it is no file
local function file(folder, path)
  if path == '' then
    return nil
  end
  path = path:gsub('^file://', ''):gsub('^~/', vim.uv.os_homedir() .. '/')
  local absolute = vim.startswith(path, '/') and path or vim.fs.joinpath(folder, path)
  return vim.fn.filereadable(absolute) == 1 and vim.fs.normalize(absolute, { expand_env = false })
    or nil
end

--- The place that a word names.
---@param folder string
---@param word string
---@return ralph.Place?
local function place(folder, word)
  local bare = word:gsub('^[%[%(<{"\'`*@]+', ''):gsub('[%]%)>}"\'`*,;.:]+$', '')
  for _, text in ipairs({ word, bare }) do
    for _, form in ipairs(forms) do
      local path, line, column = text:match(form)
      local found = path and file(folder, path)
      if found then
        return { path = found, line = tonumber(line), column = tonumber(column) }
      end
    end
    if file(folder, text) then
      return { path = file(folder, text) }
    end
  end
end

--- The file that a line names at a column, or behind it, or anywhere: what stands in
--- a tool call's heading may be a path with spaces.
---@param folder string
---@param line string
---@param column integer zero-based, in bytes
---@return ralph.Place? nil, too, where the files are on another machine
function M.find(folder, line, column)
  if wire.is_afar(status.in_folder(folder)) then
    return nil -- a file of the same name here would be another one
  end
  local title = line:match('^ *[●✓✗]+ %S+  (.+)$')
  local whole = title and file(folder, title)
  if whole then
    return { path = whole }
  end
  local behind, before
  for from, word, to in line:gmatch('()(%S+)()') do
    local found = place(folder, word)
    if found and column < to - 1 then
      behind = behind or found
    elseif found then
      before = before or found
    end
    if found and from - 1 <= column and column < to - 1 then
      return found
    end
  end
  return behind or before
end

--- The window that the user came from, or another with a file; else a new one.
local function go_to_other_window()
  local here = vim.api.nvim_get_current_win()
  local function is_fit(win)
    return win ~= here
      and win ~= 0
      and vim.api.nvim_win_get_config(win).relative == ''
      and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ''
      and not vim.wo[win].winfixbuf
  end
  local windows = { vim.fn.win_getid(vim.fn.winnr('#')) }
  vim.list_extend(windows, vim.api.nvim_tabpage_list_wins(0))
  for _, win in ipairs(windows) do
    if is_fit(win) then
      return vim.api.nvim_set_current_win(win)
    end
  end
  vim.cmd('aboveleft split')
end

--- Shows a file to be read in the window that the user came from.
---@param path string
function M.show(path)
  go_to_other_window()
  vim.cmd.view(vim.fn.fnameescape(path))
end

--- Opens the file that is named at the cursor.
---@param folder string
---@param elsewhere boolean in the window that the user came from
---@return boolean found
function M.open(folder, elsewhere)
  local column = vim.api.nvim_win_get_cursor(0)[2]
  local found = M.find(folder, vim.api.nvim_get_current_line(), column)
  if not found then
    return false
  end
  if elsewhere then
    go_to_other_window()
  end
  local ok, problem = pcall(vim.cmd.edit, vim.fn.fnameescape(found.path))
  if not ok then
    notify.error(tostring(problem):gsub('^.-:(E%d+:)', '%1'))
  elseif found.line then
    local line = math.min(found.line, vim.api.nvim_buf_line_count(0))
    pcall(vim.api.nvim_win_set_cursor, 0, { math.max(line, 1), math.max(found.column or 1, 1) - 1 })
    vim.cmd('normal! zv')
  end
  return true
end

--- Goes to the heading of another iteration.
---@param flags 'W'|'bW'
function M.walk(flags)
  local count = vim.v.count1 -- before a command takes it
  vim.cmd("normal! m'")
  for _ = 1, count do
    vim.fn.search('^▌ iteration', flags)
  end
end

return M
