--- What agents ask: a window with the question that waits longest. It opens in the corner
--- and never takes the keys of who is typing; :Ralph answer goes there.
local ask = require('ralph.ask')
local config = require('ralph.config')
local events = require('ralph.events')
local float = require('ralph.float')
local format = require('ralph.format')
local idle = require('ralph.idle')
local loops = require('ralph.loops')
local notify = require('ralph.notify')
local status = require('ralph.status')
local wire = require('ralph.wire')

local M = {}

local namespace = vim.api.nvim_create_namespace('ralph.question')
local least_width = 46 -- cells
local rule = ('─'):rep(20) -- between the keys and what is asked

--- What the answers are given by, where it isn't their number.
local letters = {
  permission = { deny = 'd', once = 'o', loop = 'l' },
  confirm = { deny = 'n', once = 'y' },
  select = { deny = 'd' },
  input = { deny = 'd' },
  limits = { deny = 'n', once = 'y' },
}

---@type { win: integer, buf: integer, question: ralph.Question }? the window
local shown
---@type table<string, true> questions that the user was told of
local told = {}
---@type table<string, 'answered'|'later'> questions that need no window
local settled = {}
local is_waiting = false -- until a window can be opened

---@param question ralph.Question
---@return string
local function key(question)
  return question.loopId .. ' ' .. question.id
end

--- All that is asked: first in a folder, then elsewhere, the oldest first.
---@param folder string
---@return ralph.Question[]
local function open_questions(folder)
  local here, elsewhere = {}, {}
  for _, loop in ipairs(status.get().loops) do
    local list = wire.folder(loop) == folder and here or elsewhere
    vim.list_extend(list, loop.questions or {})
  end
  return vim.list_extend(here, elsewhere)
end

--- What is done about the errors of an answer.
M.handle = {
  [wire.reasons.no_question] = function(err)
    notify.info(err.message)
  end,
}

local function close()
  local win = shown and shown.win
  shown = nil
  if win and vim.api.nvim_win_is_valid(win) then
    vim.api.nvim_win_close(win, true)
  end
end

--- Answers a question. Where that can't be done it is asked again.
---@param question ralph.Question
---@param answer { answer: string, text?: string }
local function give(question, answer)
  settled[key(question)] = 'answered'
  local argument = vim.tbl_extend('force', answer, {
    loopId = question.loopId,
    folder = question.folder,
    id = question.id,
  })
  local folder = vim.uri_to_fname(question.folder)
  loops.run(folder, wire.commands.answer, argument, function(err)
    if err then
      settled[key(question)] = nil
    end
    M.look()
  end, M.handle)
  M.look()
end

--- Lets the user write an answer; nothing comes of none.
---@param question ralph.Question
---@param prompt string
---@param answer string
local function write(question, prompt, answer)
  vim.ui.input({ prompt = prompt }, function(text)
    if text then
      give(question, { answer = answer, text = text ~= '' and text or nil })
    end
  end)
end

--- The keys for the answers to a question.
---@param question ralph.Question
---@return ralph.Key[]
local function answers(question)
  local list, number = {}, 0
  for _, offer in ipairs(question.offers or {}) do
    local argument = offer.arguments[1]
    local lhs = letters[question.kind][argument.answer]
    if argument.answer == 'value' then
      number = number + 1
      lhs = number < 10 and tostring(number) or nil
    end
    if lhs then
      table.insert(list, {
        lhs,
        offer.title,
        function()
          give(question, { answer = argument.answer, text = argument.text })
        end,
      })
    end
    if argument.answer == 'deny' and question.kind == 'permission' then
      table.insert(list, {
        'D',
        offer.title .. ', and say why',
        function()
          write(question, 'Why not? The agent reads it: ', 'deny')
        end,
      })
    end
  end
  if question.kind == 'input' then
    table.insert(list, {
      'i',
      'answer',
      function()
        write(question, question.title .. ' ', 'value')
      end,
    })
  elseif number > 9 then
    table.insert(list, {
      '<CR>',
      'choose one of all',
      function()
        ask.offer(question.title, vim.uri_to_fname(question.folder), question.offers)
      end,
    })
  end
  table.insert(list, {
    'q',
    'later',
    function()
      settled[key(question)] = 'later'
      M.look()
    end,
  })
  return list
end

--- What a question begins with: who asks what.
---@param question ralph.Question
---@return string
local function heading(question)
  local name = status.name(status.by_id(question.loopId))
  return name .. (question.agent and ': ' or ' ') .. question.text
end

--- Whether what is asked in full says the title again.
---@param question ralph.Question
---@param detail string
---@return boolean
local function repeats(question, detail)
  local title = question.title:gsub('…$', '')
  title = title:gsub('^' .. vim.pesc(question.tool or '') .. ' ', '')
  local words = detail:gsub('%s+', ' ')
  return vim.startswith(words, title) or vim.endswith(title, words)
end

--- Fills the window: with the keys where they can be typed.
---@param is_entered boolean
local function fill(is_entered)
  local question, buf = shown.question, shown.buf
  local detail = vim.trim(question.detail or question.title)
  local lines = vim.split(detail, '\n', { plain = true })
  if question.placeholder then
    table.insert(lines, ('(%s)'):format(question.placeholder))
  end
  local is_long = vim.api.nvim_strwidth(heading(question)) > least_width
  if is_long and not repeats(question, detail) then
    table.insert(lines, 1, question.title) -- of the window's own title not all may be seen
  end
  local keys = is_entered and answers(question) or {}
  for index, one in ipairs(keys) do
    table.insert(lines, index, (' %-4s %s'):format(one[1], one[2]))
  end
  if #keys > 0 then
    table.insert(lines, #keys + 1, rule)
  end
  local size = float.fit(lines)
  size.width = math.max(size.width, least_width)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for row, one in ipairs(keys) do
    local mark = { end_col = 1 + #one[1], hl_group = 'Special' }
    vim.api.nvim_buf_set_extmark(buf, namespace, row - 1, 1, mark)
  end
  local labels = {
    title = heading(question),
    footer = is_entered and 'g? lists the keys' or ':Ralph answer',
  }
  local spot = { size = size, corner = not is_entered }
  float.move(shown.win, spot, labels)
  if not float.wrap(shown.win) then
    labels.footer = ('%s · %s'):format(labels.footer, format.count(#lines, 'line'))
    float.move(shown.win, spot, labels)
  end
  vim.api.nvim_win_set_cursor(shown.win, { 1, 0 })
end

---@param question ralph.Question
local function open(question)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].syntax = vim.startswith(question.detail or '', '--- ') and 'diff' or ''
  local size = { width = least_width, height = 1 }
  local win = float.open(buf, size, { title = heading(question) }, true)
  require('ralph.keys').set(buf, 'Ralph asks', answers(question))
  shown = { win = win, buf = buf, question = question }
  fill(false)
  for event, is_entered in pairs({ WinEnter = true, WinLeave = false }) do
    vim.api.nvim_create_autocmd(event, {
      buffer = buf,
      callback = function()
        if shown and shown.win == win then
          fill(is_entered)
        end
      end,
    })
  end
  vim.api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(win),
    once = true,
    callback = function()
      if shown and shown.win == win then -- by the user
        shown = nil
        settled[key(question)] = 'later'
        vim.schedule(M.look)
      end
    end,
  })
end

--- Opens the window for the first question that isn't settled.
---@param folder? string whose are the first
local function show(folder)
  is_waiting = false
  local question = vim.iter(open_questions(folder or config.folder())):find(function(one)
    return not settled[key(one)]
  end)
  if question and not shown then
    open(question)
  end
end

--- Tells of a question, once.
---@param question ralph.Question
local function tell(question)
  local loop = status.by_id(question.loopId) or {}
  local source = { loopId = question.loopId, folder = vim.uri_to_fname(question.folder) }
  source.iteration = loop.iteration
  events.fire('Question', source, { id = question.id, kind = question.kind, text = question.text })
  notify.said('', { text = heading(question), class = question.class }, true, ' (:Ralph answer)')
end

--- Looks what is asked now, after each status.
function M.look()
  local before, kept = told, settled
  told, settled = {}, {}
  for _, question in ipairs(open_questions(config.folder())) do
    local id = key(question)
    told[id], settled[id] = true, kept[id]
    if not before[id] then
      tell(question)
    end
  end
  if shown and (not told[key(shown.question)] or settled[key(shown.question)]) then
    close()
  end
  if next(told) == nil or shown or is_waiting then
    return
  end
  is_waiting = true
  local now = vim.api.nvim_get_mode()
  local is_asked = now.blocking or now.mode:match('^[cr]') -- a command line, a question of Neovim's
  local run = is_asked and idle.run or vim.schedule
  run(function()
    show()
  end)
end

--- Goes to the window.
---@param folder? string whose questions come first
---@return boolean is there something to answer?
function M.enter(folder)
  local is_here = shown
    and vim.api.nvim_win_get_tabpage(shown.win) == vim.api.nvim_get_current_tabpage()
    and (not folder or vim.uri_to_fname(shown.question.folder) == folder)
  if not is_here then
    close()
    for id, how in pairs(settled) do
      settled[id] = how ~= 'later' and how or nil
    end
    show(folder)
  end
  if shown then
    vim.api.nvim_set_current_win(shown.win)
  end
  return shown ~= nil
end

--- The question that a command is about: the one in the window, or the first.
---@return ralph.Question?
local function current()
  return shown and shown.question or open_questions(config.folder())[1]
end

--- Answers by a text: "deny not this one", "once", "loop", or a value.
---@param text string empty: goes to the window
function M.answer(text)
  local question = current()
  if text == '' and M.enter() then
    return
  elseif not question then -- the sidecar says so
    return loops.run(nil, wire.commands.answer, {}, nil, M.handle)
  end
  local word, rest = text:match('^(%S+)%s*(.*)$')
  for _, offer in ipairs(question.offers or {}) do
    local answer = offer.arguments[1].answer
    if answer == word and answer ~= 'value' then
      return give(question, { answer = answer, text = rest ~= '' and rest or nil })
    end
  end
  give(question, { answer = 'value', text = text })
end

--- What can be answered, for completion.
---@return string[]
function M.complete()
  local question = current()
  return vim.tbl_map(function(offer)
    local argument = offer.arguments[1]
    return argument.answer == 'value' and argument.text or argument.answer
  end, question and question.offers or {})
end

return M
