--- Remarks on lines of what a loop changed: they stand beside the lines until all are sent.
local changes = require('ralph.changes')
local notify = require('ralph.notify')
local status = require('ralph.status')

local M = {}

local namespace = vim.api.nvim_create_namespace('ralph.remarks')
local most = 40 -- lines of a change that stand with a remark

---@class ralph.Remark
---@field buf integer
---@field mark integer of its lines, which may move
---@field text string
---@type ralph.Remark[] in the order in which they were made
local remarks = {}

--- Keeps a remark on lines of the current buffer.
---@param first integer from 1
---@param last integer
---@param text string
function M.add(first, last, text)
  if vim.bo.buftype ~= '' or vim.api.nvim_buf_get_name(0) == '' then
    return notify.error('a remark is about lines of a file')
  end
  local mark = vim.api.nvim_buf_set_extmark(0, namespace, first - 1, 0, {
    end_row = last - 1,
    sign_text = '»',
    sign_hl_group = 'DiagnosticInfo',
    virt_text = { { '  » ' .. text, 'DiagnosticVirtualTextInfo' } },
  })
  table.insert(remarks, { buf = vim.api.nvim_get_current_buf(), mark = mark, text = text })
end

--- Those whose lines are still there, with their lines.
---@return { buf: integer, first: integer, last: integer, text: string }[]
local function places()
  local all = {}
  for _, one in ipairs(remarks) do
    local at = vim.api.nvim_buf_is_loaded(one.buf)
        and vim.api.nvim_buf_get_extmark_by_id(one.buf, namespace, one.mark, { details = true })
      or {}
    if at[1] then
      local last = math.max(at[1], at[3].end_row or at[1])
      table.insert(all, { buf = one.buf, first = at[1] + 1, last = last + 1, text = one.text })
    end
  end
  return all
end

local function clear()
  for _, one in ipairs(remarks) do
    if vim.api.nvim_buf_is_valid(one.buf) then
      vim.api.nvim_buf_del_extmark(one.buf, namespace, one.mark)
    end
  end
  remarks = {}
end

--- Lists all remarks in the quickfix window.
function M.list()
  local items = vim.tbl_map(function(place)
    return { bufnr = place.buf, lnum = place.first, end_lnum = place.last, text = place.text }
  end, places())
  if #items == 0 then
    return notify.info('there is no remark: :{range}Ralph remark TEXT makes one')
  end
  require('ralph.show').quickfix('Ralph: remarks', items)
end

--- Lines of a text as a difference to what they replace.
---@param before string
---@param now string[]
---@param first integer
---@param last integer
---@return string[]
function M.difference(before, now, first, last)
  local differ = vim.text and vim.text.diff or vim.diff
  local after = table.concat(now, '\n') .. '\n'
  local hunks = differ(before, after, { result_type = 'indices' }) --[[@as integer[][] ]]
  local old, shown = vim.split(before, '\n', { plain = true }), {}
  local function gone(hunk)
    for line = hunk[1], hunk[1] + hunk[2] - 1 do
      table.insert(shown, '-' .. old[line])
    end
  end
  for line = first, last do
    local sign = ' '
    for _, hunk in ipairs(hunks) do
      local from, count = hunk[3], hunk[4]
      if count > 0 and line >= from and line < from + count then
        sign = '+'
        if line == math.max(from, first) then
          gone(hunk)
        end
      end
    end
    table.insert(shown, sign .. now[line])
    for _, hunk in ipairs(hunks) do
      if hunk[4] == 0 and hunk[3] == line then
        gone(hunk)
      end
    end
  end
  if #shown > most then
    shown = vim.list_extend(vim.list_slice(shown, 1, most), { '...' })
  end
  return shown
end

--- Sends words as the server says: to the agent at work, with a loop that goes on, or as the
--- next one's prompt.
---@param folder string
---@param text string
---@param callback ralph.Callback
local function send(folder, text, callback)
  local loop = status.in_folder(folder)
  local talk = loop and (loop.talks or {})[1]
  if not talk then
    return notify.error('no loop listens here')
  end
  local argument = vim.deepcopy((talk.arguments or {})[1] or {})
  argument[talk.key] = text
  require('ralph.loops').run(folder, talk.command, argument, callback)
end

--- Sends all remarks of a folder together; those that don't arrive are kept.
---@param folder string
function M.send(folder)
  local all = places()
  if #all == 0 then
    return M.list()
  end
  local parts, waiting = {}, #all
  for index, place in ipairs(all) do
    local path = changes.relative(folder, vim.api.nvim_buf_get_name(place.buf))
    changes.file(folder, { path = path }, function(_, before)
      local now = vim.api.nvim_buf_get_lines(place.buf, 0, -1, false)
      local before_it = before or table.concat(now, '\n') .. '\n' -- nobody knows
      local shown = M.difference(before_it, now, place.first, place.last)
      local lines = place.first == place.last and '' or '-' .. place.last
      local head = ('%s:%d%s'):format(path, place.first, lines)
      local fenced = require('ralph.prompt').fenced(shown, 'diff')
      parts[index] = table.concat({ head, fenced, place.text }, '\n')
      waiting = waiting - 1
      if waiting == 0 then
        table.insert(parts, 1, 'Remarks on your changes:')
        send(folder, table.concat(parts, '\n\n'), function(err)
          if not err then
            clear()
          end
        end)
      end
    end)
  end
end

return M
