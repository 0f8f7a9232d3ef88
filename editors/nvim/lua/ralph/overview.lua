--- The overview: all loops, one a line, with keys for what can be done with each.
local actions = require('ralph.actions')
local client = require('ralph.client')
local config = require('ralph.config')
local format = require('ralph.format')
local notify = require('ralph.notify')
local show = require('ralph.show')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

M.name = 'ralph-loops://all'

local namespace = vim.api.nvim_create_namespace('ralph.overview')
local title_width = { least = 8, most = 24 } -- cells

---@type integer? the buffer
local buf
---@type table<integer, ralph.Loop> by the line that it is on, its details among them
local at = {}
---@type table<string, true> folders whose details are shown
local unfolded = {}
---@type ralph.Loop[] the user's loops in folders that the sidecar isn't told of, as it was asked last
local elsewhere = {}
local look_interval = 3000 -- milliseconds between two looks at them
---@type uv.uv_timer_t?
local timer

--- What a loop is known by, also when it goes on under another id.
---@param loop ralph.Loop
---@return string
local function key(loop)
  return loop.folder
end

---@class ralph.OverviewLine
---@field text string
---@field loop? ralph.Loop
---@field marks { [1]: integer, [2]: integer, [3]: string }[] from, to (bytes) and the highlight group

local groups = {
  info = 'ralphLoopInfo',
  ok = 'ralphLoopOk',
  warning = 'ralphLoopWarning',
  error = 'ralphLoopError',
}

--- Where a loop is: its folder, or the machine that has it.
---@param loop ralph.Loop
---@return ralph.Detail
local function place(loop)
  if wire.is_afar(loop) then
    return { label = 'Host', text = loop.host }
  end
  return { label = 'Folder', text = vim.fn.fnamemodify(wire.folder(loop), ':~') }
end

--- The line of a loop: its title, how it stands, and its place where there is room.
---@param loop ralph.Loop
---@param widths { title: integer, all: integer }
---@param is_open boolean
---@return ralph.OverviewLine
local function loop_line(loop, widths, is_open)
  local title = format.cut(loop.title, widths.title)
  local mark = is_open and '▾ ' or '▸ '
  local gap = (' '):rep(widths.title - vim.api.nvim_strwidth(title) + 2)
  local head = mark .. title .. gap
  local room = widths.all - vim.api.nvim_strwidth(head)
  local clock = loop.live and 9 or 0 -- its cells
  local line = status.with_clock(loop, format.cut(loop.line or '', room - clock))
  local where = place(loop).text
  local text = head .. line
  local marks = {
    { #mark, #mark + #title, 'ralphLoopTitle' },
    { #head, #text, groups[loop.class] or 'ralphLoopInfo' },
  }
  local free = widths.all - vim.api.nvim_strwidth(text) - vim.api.nvim_strwidth(where)
  if free >= 2 then
    local from = #text + free
    text = text .. (' '):rep(free) .. where
    table.insert(marks, { from, #text, 'ralphLoopFolder' })
  end
  return { text = text, loop = loop, marks = marks }
end

--- What there is to know of a loop besides.
---@param loop ralph.Loop
---@return ralph.OverviewLine[]
local function detail_lines(loop)
  local rows = vim.list_extend({}, loop.details or {})
  table.insert(rows, 1, place(loop))
  local lines = {}
  for index, text in ipairs(show.rows(rows)) do
    local marks = { { 4, 4 + #rows[index].label, 'ralphLoopLabel' } }
    table.insert(lines, { text = '    ' .. text, loop = loop, marks = marks })
  end
  return lines
end

--- The agents at work, a line each: of several the loop's own line has only the number.
---@param loop ralph.Loop
---@param width integer cells
---@return ralph.OverviewLine[]
local function agent_lines(loop, width)
  local agents = loop.agents or {}
  return vim.tbl_map(function(agent)
    local text = format.cut('    ' .. agent.title, width)
    return { text = text, loop = loop, marks = { { 4, #text, 'ralphLoopInfo' } } }
  end, #agents > 1 and agents or {})
end

--- The loops with those in worktrees, and of other machines, right behind that of their repository.
---@param loops ralph.Loop[]
---@return ralph.Loop[]
local function by_repository(loops)
  local first, sorted = {}, {}
  for index, loop in ipairs(loops) do
    local home = loop.worktree and loop.worktree.repository or loop.origin or loop.folder
    first[home] = math.min(first[home] or index, index)
    table.insert(sorted, { loop = loop, home = home, index = home ~= loop.folder and index or 0 })
  end
  table.sort(sorted, function(a, b)
    if first[a.home] ~= first[b.home] then
      return first[a.home] < first[b.home]
    end
    return a.index < b.index
  end)
  return vim.tbl_map(function(one)
    return one.loop
  end, sorted)
end

--- The overview of loops.
---@param loops ralph.Loop[]
---@param width integer cells
---@param open table<string, true> folders whose details are shown
---@param besides? string what is to be known of all
---@param others? ralph.Loop[] those of other folders
---@return ralph.OverviewLine[]
function M.render(loops, width, open, besides, others)
  local title = title_width.least
  for _, loop in ipairs(vim.list_extend(vim.list_slice(loops), others or {})) do
    title = math.max(title, vim.api.nvim_strwidth(loop.title))
  end
  local most = math.min(title_width.most, math.floor(width / 3))
  local widths = { title = math.min(title, most), all = width }
  local lines = {}
  local function add(group)
    for _, loop in ipairs(group) do
      local is_open = open[key(loop)] == true
      table.insert(lines, loop_line(loop, widths, is_open))
      if is_open then
        vim.list_extend(lines, detail_lines(loop))
      else
        vim.list_extend(lines, agent_lines(loop, width))
      end
    end
  end
  local function remark(text)
    table.insert(lines, { text = text, marks = { { 0, #text, 'ralphLoopFolder' } } })
  end
  if #loops == 0 then
    local none = 'No loop is known. S starts one here, g? lists the keys.'
    table.insert(lines, { text = none, marks = {} })
  end
  add(by_repository(loops))
  if others and others[1] then
    remark('In other folders:')
    add(others)
  end
  if besides then
    remark(besides)
  end
  return lines
end

--- The loop that a line is about.
---@return ralph.Loop?
local function current()
  return at[vim.api.nvim_win_get_cursor(0)[1]]
end

--- Where the cursors are: on which line of which loop.
---@return { win: integer, loop?: string, below: integer, column: integer }[]
local function cursors()
  return vim.tbl_map(function(win)
    local line, column = unpack(vim.api.nvim_win_get_cursor(win))
    local loop, below = at[line], 0
    while loop and at[line - below - 1] and key(at[line - below - 1]) == key(loop) do
      below = below + 1
    end
    return { win = win, loop = loop and key(loop), below = below, column = column }
  end, vim.fn.win_findbuf(buf))
end

--- Puts cursors back where they were, though lines came and went.
---@param places { win: integer, loop?: string, below: integer, column: integer }[]
local function restore(places)
  for _, one in ipairs(places) do
    for line, loop in ipairs(at) do
      if key(loop) == one.loop then
        local same = at[line + one.below] and key(at[line + one.below]) == one.loop
        local target = { same and line + one.below or line, one.column }
        if not vim.deep_equal(vim.api.nvim_win_get_cursor(one.win), target) then
          vim.api.nvim_win_set_cursor(one.win, target)
        end
        break
      end
    end
  end
end

--- Writes the lines that aren't as they were.
---@param lines ralph.OverviewLine[]
local function write(lines)
  local texts = vim.tbl_map(function(line)
    return line.text
  end, lines)
  if not vim.deep_equal(texts, vim.api.nvim_buf_get_lines(buf, 0, -1, false)) then
    vim.bo[buf].modifiable = true
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, texts)
    vim.bo[buf].modifiable = false
    vim.bo[buf].modified = false
  end
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for row, line in ipairs(lines) do
    for _, mark in ipairs(line.marks) do
      vim.api.nvim_buf_set_extmark(buf, namespace, row - 1, mark[1], {
        end_col = mark[2],
        hl_group = mark[3],
      })
    end
  end
end

--- Shows how all loops stand now.
local function refresh()
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    return
  end
  local win = vim.fn.win_findbuf(buf)[1]
  if not win then
    return
  end
  local places = cursors()
  local width = vim.api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff
  local now = status.get()
  local others = vim.tbl_filter(function(loop)
    return not status.by_id(loop.loopId)
  end, elsewhere)
  local lines = M.render(now.loops, width, unfolded, now.text, others)
  at = {}
  for row, line in ipairs(lines) do
    at[row] = line.loop
  end
  write(lines)
  restore(places)
end

--- Asks for the loops in other folders, of which no status comes.
---@param folder string one that the sidecar knows
---@param argument table
---@param fail fun(message: string)
local function ask(folder, argument, fail)
  argument.elsewhere = true
  client.execute(folder, wire.commands.status, argument, function(err, result)
    if err then
      return fail(err.message)
    end
    elsewhere = result.elsewhere or {}
    refresh()
  end)
end

--- Lets the sidecar look at the current folder at once: it may have heard of it a
--- moment ago. What it finds there comes as a status. Other folders are looked at
--- again while the overview is shown.
local function look()
  local folder = config.folder()
  ask(folder, { folder = vim.uri_from_fname(folder) }, notify.error)
  local function again()
    if client.is_ready() and vim.fn.win_findbuf(buf)[1] then
      ask(folder, {}, function() end)
    end
  end
  timer = timer or assert(vim.uv.new_timer())
  timer:start(look_interval, look_interval, vim.schedule_wrap(again))
end

local function toggle()
  local loop = current()
  if loop then
    unfolded[key(loop)] = not unfolded[key(loop)] or nil
    refresh()
  end
end

--- Opens the folder of the loop's worktree, which is the tab's from then on.
local function worktree()
  local loop = current()
  if not loop or not loop.worktree then
    return notify.info('there is no worktree here')
  end
  local path = vim.fn.fnameescape(vim.uri_to_fname(loop.worktree.path))
  vim.cmd('tabnew')
  vim.cmd('tcd ' .. path)
  vim.cmd('edit ' .. path)
end

---@type ralph.Key[]
local own = {
  require('ralph.keys').close,
  { 'o', "open the folder of the loop's worktree in a tab", worktree },
  { '<Tab>', 'show what else is known of the loop, or hide it', toggle },
  {
    '<CR>',
    'open the output',
    function()
      local loop = current()
      if loop then
        require('ralph.output').open(wire.folder(loop))
      end
    end,
  },
}

--- Fills a buffer, as BufReadCmd does.
---@param read integer the buffer
function M.read(read)
  buf = read
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].undolevels = -1
  vim.bo[buf].filetype = 'ralphloops'
  require('ralph.keys').set(
    buf,
    'Ralph loops',
    vim.list_extend(vim.list_extend({}, own), actions.keys(current))
  )
  local group = vim.api.nvim_create_augroup('ralph.overview', { clear = true })
  vim.api.nvim_create_autocmd(
    'User',
    { group = group, pattern = 'RalphStatus', callback = refresh }
  )
  vim.api.nvim_create_autocmd(
    { 'WinResized', 'BufWinEnter' },
    { group = group, callback = refresh }
  )
  refresh()
  look()
end

--- Shows the overview, in the window that has it or a new one.
function M.open()
  local win = buf and vim.fn.win_findbuf(buf)[1]
  if win then
    vim.api.nvim_set_current_win(win)
    return look()
  end
  vim.cmd('botright 10split')
  vim.cmd.edit(vim.fn.fnameescape(M.name))
  look()
end

return M
