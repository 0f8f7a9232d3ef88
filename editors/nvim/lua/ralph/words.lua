--- What {file}, {selection}, {diagnostics} and {quickfix} in a text stand for.
local M = {}

local most = 50 -- diagnostics or entries of the quickfix list

--- The buffer that the user works on: the current one, or the one before a window of ours.
---@return integer?
local function buffer()
  for _, buf in ipairs({ vim.api.nvim_get_current_buf(), vim.fn.bufnr('#') }) do
    if buf > 0 and vim.bo[buf].buftype == '' and vim.api.nvim_buf_get_name(buf) ~= '' then
      return buf
    end
  end
end

---@param folder string
---@param buf integer
---@return string
local function name(folder, buf)
  return require('ralph.changes').relative(folder, vim.api.nvim_buf_get_name(buf))
end

---@param lines string[]
---@return string
local function list(lines)
  local shown = vim.list_slice(lines, 1, most)
  if #lines > most then
    table.insert(shown, ('... and %d more'):format(#lines - most))
  end
  return table.concat(shown, '\n')
end

---@type table<string, fun(folder: string): string?> nil: there is none
local values = {}

function values.file(folder)
  local buf = buffer()
  return buf and name(folder, buf)
end

function values.selection(folder)
  local buf = buffer()
  local first = buf and vim.api.nvim_buf_get_mark(buf, '<')[1] or 0
  local last = buf and vim.api.nvim_buf_get_mark(buf, '>')[1] or 0
  if not buf or first == 0 or last < first then
    return
  end
  local lines = vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
  return vim.api.nvim_buf_call(buf, function()
    return require('ralph.prompt').place(folder, first, last, table.concat(lines, '\n'))
  end)
end

function values.diagnostics(folder)
  local buf = buffer()
  local all = buf and vim.diagnostic.get(buf) or {}
  table.sort(all, function(a, b)
    return a.lnum < b.lnum
  end)
  return #all > 0
      and list(vim.tbl_map(function(one)
        local text = one.message:gsub('%s*\n%s*', ' ')
        return ('%s:%d:%d: %s'):format(name(folder, buf), one.lnum + 1, one.col + 1, text)
      end, all))
    or nil
end

function values.quickfix(folder)
  local items = vim.fn.getqflist()
  return #items > 0
      and list(vim.tbl_map(function(item)
        local path = item.bufnr > 0 and ('%s:%d: '):format(name(folder, item.bufnr), item.lnum)
        return (path or '') .. vim.trim(item.text)
      end, items))
    or nil
end

--- The text with what its words in braces stand for; any other word stays as it is.
---@param text string
---@param folder string
---@return string? text
---@return string? problem
function M.fill(text, folder)
  local missing
  local filled = text:gsub('{(%l+)}', function(word)
    local value = values[word] and values[word](folder)
    missing = missing or values[word] and not value and word or nil
    return value
  end)
  if missing then
    return nil, ('there is nothing for {%s}'):format(missing)
  end
  return filled
end

return M
