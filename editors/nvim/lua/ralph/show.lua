--- Texts in windows of their own, and the list of past loops.
local float = require('ralph.float')
local format = require('ralph.format')
local notify = require('ralph.notify')

local M = {}

--- Shows lines in a floating window that q closes.
---@param title string
---@param lines string[]
---@return integer buf
function M.lines(title, lines)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = 'markdown'
  local win = float.open(buf, float.fit(lines), { title = title })
  float.wrap(win)
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, nowait = true, desc = 'Close' })
  return buf
end

--- Fills the quickfix list, and opens its window.
---@param title string
---@param items table[]
function M.quickfix(title, items)
  vim.fn.setqflist({}, ' ', { title = title, items = items })
  vim.cmd('botright copen')
end

--- Rows of a table, as the sidecar has them.
---@param rows ralph.Detail[]
---@return string[] lines
function M.rows(rows)
  local width = 0
  for _, row in ipairs(rows) do
    width = math.max(width, vim.api.nvim_strwidth(row.label))
  end
  return vim.tbl_map(function(row)
    local gap = (' '):rep(width - vim.api.nvim_strwidth(row.label) + 2)
    return row.label .. gap .. row.text:gsub('\n', ' ')
  end, rows)
end

--- Shows what a start would run, and what is in its way.
---@param preview ralph.Preview
function M.preview(preview)
  local lines = vim.list_extend({ preview.text, '' }, M.rows(preview.details))
  for _, problem in ipairs(preview.problems or {}) do
    vim.list_extend(lines, { '', '! ' .. problem.text })
  end
  for _, warning in ipairs(preview.warnings or {}) do
    vim.list_extend(lines, { '', '! ' .. warning })
  end
  for _, offer in ipairs(preview.offers or {}) do
    vim.list_extend(lines, { '', '→ ' .. offer.title })
  end
  M.lines('Ralph: what would run', lines)
end

---@class ralph.Check
---@field ok boolean
---@field message string
---@field fix? string
---@field optional? boolean
---@field minor? boolean

--- Shows what the doctor found: its verdict and what is wrong; what is in order is folded.
---@param found { text: string, checks: ralph.Check[] }
function M.doctor(found)
  local lines, folded = { found.text, '' }, nil
  for _, check in ipairs(found.checks) do
    if not folded and (check.ok or check.minor) then
      folded = #lines + 1
    end
    local mark = check.ok and '✓' or check.optional and '–' or '✗'
    table.insert(lines, ('%s %s'):format(mark, check.message))
    if check.fix and not check.ok then
      table.insert(lines, '    ' .. check.fix)
    end
  end
  M.lines('Ralph doctor', lines)
  if folded then
    vim.wo.foldmethod, vim.wo.foldenable = 'manual', true
    vim.cmd(('%d,$fold'):format(folded))
  end
end

---@param past table a loop that ended
---@return string
local function past_line(past)
  local started = os.date('%Y-%m-%d %H:%M', format.epoch(past.startedAt))
  local title = format.cut(past.title or '', 40)
  return ('%s  %s  %s  %s'):format(started, past.backend or '', title, past.text)
end

--- Lets the user look at one of the loops that ended.
---@param loops table[]
function M.history(loops)
  if #loops == 0 then
    return notify.info('no loop has ended here yet')
  end
  vim.ui.select(loops, {
    prompt = 'Ralph loops',
    kind = 'ralph.history',
    format_item = past_line,
  }, function(past)
    if not past then
      return
    end
    if past.sessionFileUri then
      require('ralph.output').open_session(past.sessionFileUri)
    else
      notify.info('this loop was not kept')
    end
  end)
end

--- Runs a command line in a terminal below.
---@param plan { argv: string[], env: table<string, string>, cwd: string }
function M.terminal(plan)
  vim.cmd('botright new')
  local options = { cwd = plan.cwd, env = next(plan.env or {}) and plan.env or nil }
  if vim.fn.has('nvim-0.11') == 1 then
    options.term = true
    vim.fn.jobstart(plan.argv, options)
  else
    vim.fn.termopen(plan.argv, options)
  end
  vim.cmd.startinsert()
end

return M
