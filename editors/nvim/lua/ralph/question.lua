--- What waits for the user's decision: what an agent asks, and what can be done about a loop.
--- It stands in a window in the corner, which never takes the keys of who is typing;
--- :Ralph answer goes there.
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

--- What waits for a decision: an agent's question, or choices of the plugin's.
---@class ralph.Matter
---@field id string
---@field folder string path
---@field name? string which loop it is about
---@field question? ralph.Question
---@field text? string what is to be decided, where no agent asks
---@field choices? { [1]: string, [2]: fun() }[]
---@field is_moot? fun(): boolean

---@type { win: integer, buf: integer, matter: ralph.Matter }? the window
local shown
---@type table<string, true> what the user was told of
local told = {}
---@type table<string, 'answered'|'later'> what needs no window
local settled = {}
---@type ralph.Matter[] what no agent asks
local decisions = {}
local is_waiting = false -- until a window can be opened

--- All that is asked: first in a folder, then elsewhere, and what agents ask before all else,
--- as they wait. The oldest comes first.
---@param folder string
---@return ralph.Matter[]
local function matters(folder)
  local all = {}
  for _, loop in ipairs(status.get().loops) do
    for _, question in ipairs(loop.questions or {}) do
      local id = question.loopId .. ' ' .. question.id
      local of = { folder = wire.folder(loop), name = status.name(loop) }
      table.insert(all, vim.tbl_extend('error', of, { id = id, question = question }))
    end
  end
  decisions = vim.tbl_filter(function(one)
    return not one.is_moot()
  end, decisions)
  vim.list_extend(all, decisions)
  local here, elsewhere = {}, {}
  for _, one in ipairs(all) do
    table.insert(one.folder == folder and here or elsewhere, one)
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
  local id = question.loopId .. ' ' .. question.id
  settled[id] = 'answered'
  local argument = vim.tbl_extend('force', answer, {
    loopId = question.loopId,
    folder = question.folder,
    id = question.id,
  })
  local folder = vim.uri_to_fname(question.folder)
  loops.run(folder, wire.commands.answer, argument, function(err)
    if err then
      settled[id] = nil
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
  return list
end

--- What no agent asks waits no more.
---@param id string
local function forget(id)
  decisions = vim.tbl_filter(function(one)
    return one.id ~= id
  end, decisions)
end

--- The keys for what can be decided.
---@param matter ralph.Matter
---@return ralph.Key[]
local function keys_of(matter)
  local list = matter.question and answers(matter.question) or {}
  for number, choice in ipairs(matter.choices or {}) do
    table.insert(list, {
      tostring(number),
      choice[1],
      function()
        forget(matter.id)
        M.look()
        choice[2]()
      end,
    })
  end
  table.insert(list, {
    'q',
    'later',
    function()
      settled[matter.id] = 'later'
      M.look()
    end,
  })
  return list
end

--- What a window begins with: who asks what.
---@param matter ralph.Matter
---@return string
local function heading(matter)
  local question = matter.question
  local text = question and question.text or matter.text
  local mark = question and not question.agent and ' ' or ': '
  return matter.name and matter.name .. mark .. text or text
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

--- All of what is asked.
---@param question ralph.Question
---@param is_long boolean of the window's own title not all may be seen
---@return string[] lines
local function question_lines(question, is_long)
  local detail = vim.trim(question.detail or question.title)
  local lines = vim.split(detail, '\n', { plain = true })
  if question.placeholder then
    table.insert(lines, ('(%s)'):format(question.placeholder))
  end
  if is_long and not repeats(question, detail) then
    table.insert(lines, 1, question.title)
  end
  return lines
end

--- What is to be decided, and what can be chosen where no key is typed yet: there a title
--- that has all of it is enough.
---@param matter ralph.Matter
---@param is_entered boolean
---@param is_long boolean of the window's own title not all may be seen
---@return string[] lines
local function decision_lines(matter, is_entered, is_long)
  local lines = vim.split(vim.trim(matter.text), '\n', { plain = true })
  if not is_entered and not is_long and #lines == 1 then
    lines = {}
  end
  for _, choice in ipairs(is_entered and {} or matter.choices) do
    table.insert(lines, '→ ' .. choice[1])
  end
  return lines
end

--- How the user goes to the window: by their own mapping, or by the command.
---@return string
local function way_in()
  for _, map in ipairs(vim.api.nvim_get_keymap('n')) do
    if map.rhs == '<Plug>(ralph-answer)' then
      return map.lhs
    end
  end
  return ':Ralph answer'
end

--- Fills the window: with the keys where they can be typed.
---@param is_entered boolean
local function fill(is_entered)
  local matter, buf = shown.matter, shown.buf
  local title = heading(matter)
  local is_long = vim.api.nvim_strwidth(title) > least_width
  local lines = matter.question and question_lines(matter.question, is_long)
    or decision_lines(matter, is_entered, is_long)
  local keys = is_entered and keys_of(matter) or {}
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
    title = title,
    footer = is_entered and 'g? lists the keys' or way_in() .. ' goes here',
  }
  local spot = { size = size, corner = not is_entered }
  float.move(shown.win, spot, labels)
  if not float.wrap(shown.win) then
    labels.footer = ('%s · %s'):format(labels.footer, format.count(#lines, 'line'))
    float.move(shown.win, spot, labels)
  end
  vim.api.nvim_win_set_cursor(shown.win, { 1, 0 })
end

---@param matter ralph.Matter
local function open(matter)
  local buf = vim.api.nvim_create_buf(false, true)
  local detail = matter.question and matter.question.detail or ''
  vim.bo[buf].syntax = vim.startswith(detail, '--- ') and 'diff' or ''
  local size = { width = least_width, height = 1 }
  local win = float.open(buf, size, { title = heading(matter) }, true)
  require('ralph.keys').set(buf, 'Ralph asks', keys_of(matter))
  shown = { win = win, buf = buf, matter = matter }
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
        settled[matter.id] = 'later'
        vim.schedule(M.look)
      end
    end,
  })
end

--- Opens the window for the first that isn't settled.
---@param folder? string whose are the first
---@param id? string the only one
local function show(folder, id)
  is_waiting = false
  local matter = vim.iter(matters(folder or config.folder())):find(function(one)
    return not settled[one.id] and (not id or one.id == id)
  end)
  if matter and not shown then
    open(matter)
  end
end

--- Tells of a question, once.
---@param matter ralph.Matter
local function tell(matter)
  local question = matter.question
  if not question then
    return -- the window is enough: of the end, or the offer, a message has told
  end
  local loop = status.by_id(question.loopId) or {}
  local source = { loopId = question.loopId, folder = vim.uri_to_fname(question.folder) }
  source.iteration = loop.iteration
  events.fire('Question', source, { id = question.id, kind = question.kind, text = question.text })
  notify.said('', { text = heading(matter), class = question.class }, true, ' (:Ralph answer)')
end

--- Looks what is asked now, after each status.
function M.look()
  local before, kept = told, settled
  told, settled = {}, {}
  for _, matter in ipairs(matters(config.folder())) do
    local id = matter.id
    told[id], settled[id] = true, kept[id]
    if not before[id] then
      tell(matter)
    end
  end
  if shown and (not told[shown.matter.id] or settled[shown.matter.id]) then
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
---@param id? string of the only one that is meant
---@return boolean is there something to answer?
function M.enter(folder, id)
  local is_here = shown
    and vim.api.nvim_win_get_tabpage(shown.win) == vim.api.nvim_get_current_tabpage()
    and (not folder or shown.matter.folder == folder)
    and (not id or shown.matter.id == id)
  if not is_here then
    close()
    for one, how in pairs(settled) do
      settled[one] = how ~= 'later' and how or nil
    end
    show(folder, id)
  end
  if shown then
    vim.cmd.stopinsert()
    vim.api.nvim_set_current_win(shown.win)
  end
  return shown ~= nil
end

--- Lets the user decide something, when they go to the window.
---@param matter ralph.Matter
function M.decide(matter)
  forget(matter.id)
  table.insert(decisions, matter)
  settled[matter.id] = nil
  if shown and shown.matter.id == matter.id then
    close()
  end
  M.look()
end

--- What a command is about: what the window has, or the first.
---@return ralph.Matter?
local function current()
  return shown and shown.matter or matters(config.folder())[1]
end

--- Answers by a text: "deny not this one", "once", "loop", or a value.
---@param text string empty: goes to the window
function M.answer(text)
  local matter = current()
  if text == '' and M.enter() then
    return
  elseif not matter then -- the sidecar says so
    return loops.run(nil, wire.commands.answer, {}, nil, M.handle)
  end
  local question = matter.question
  if not question then
    local key = vim.iter(keys_of(matter)):find(function(one)
      return one[1] == text
    end)
    return key and key[3]() or M.enter()
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
  local matter = current()
  return vim.tbl_map(function(offer)
    local argument = offer.arguments[1]
    return argument.answer == 'value' and argument.text or argument.answer
  end, matter and matter.question and matter.question.offers or {})
end

return M
