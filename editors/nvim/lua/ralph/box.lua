--- The window to write a prompt in. What is written is kept until a loop runs with it.
local client = require('ralph.client')
local draft = require('ralph.draft')
local float = require('ralph.float')
local loops = require('ralph.loops')
local notify = require('ralph.notify')
local wire = require('ralph.wire')

local M = {}

local pause = 300 -- milliseconds without a change before what will run is asked for
local max_matches = 200

---@class ralph.Box
---@field buf integer
---@field win? integer
---@field options ralph.StartOptions of the start, without the prompt
---@field callback? ralph.Callback of the start
---@field changes integer counts them

---@type table<string, ralph.Box> by folder
local boxes = {}

---@param box ralph.Box
---@return string
local function text_of(box)
  return table.concat(vim.api.nvim_buf_get_lines(box.buf, 0, -1, false), '\n')
end

--- Keeps what was written. Nothing is left that a :qa would ask about.
---@param box ralph.Box
local function keep(box)
  if not vim.api.nvim_buf_is_valid(box.buf) then
    return
  end
  local problem = draft.write(box.options.folder, text_of(box))
  if problem then
    return notify.warn("the draft of the prompt can't be kept: " .. problem)
  end
  vim.bo[box.buf].modified = false
end

---@param box ralph.Box
local function close(box)
  if box.win and vim.api.nvim_win_is_valid(box.win) then
    vim.api.nvim_win_close(box.win, true)
  end
end

--- A loop runs with it: the draft is no draft any more.
---@param box ralph.Box
local function forget(box)
  boxes[box.options.folder] = nil
  draft.write(box.options.folder, '')
  vim.api.nvim_buf_delete(box.buf, { force = true })
end

---@param box ralph.Box
local function start(box)
  local text = text_of(box)
  if vim.trim(text) == '' then
    return notify.warn('the prompt is empty')
  end
  local filled, problem = require('ralph.words').fill(text, box.options.folder)
  if not filled then
    return notify.warn(problem)
  end
  text = filled
  vim.cmd.stopinsert()
  keep(box)
  vim.schedule(function() -- :wq closes it as well
    close(box)
    loops.start(vim.tbl_extend('force', box.options, { prompt = text }), function(err, result)
      if result and result.loopId and vim.api.nvim_buf_is_valid(box.buf) then
        forget(box)
      end
      if box.callback then
        box.callback(err, result)
      end
    end)
  end)
end

---@param box ralph.Box
---@param group string of the highlight
---@param text string
local function set_bar(box, group, text)
  if box.win and vim.api.nvim_win_is_valid(box.win) then
    local plain = text:gsub('%s*\n%s*', ' '):gsub('%%', '%%%%')
    vim.wo[box.win].winbar = ('%%#%s# %s%%<'):format(group, plain)
  end
end

--- Asks what will run.
---@param box ralph.Box
---@param callback fun(err: ralph.Error?, preview: ralph.Preview?)
local function ask_preview(box, callback)
  local text = text_of(box)
  local prompt = vim.trim(text) ~= '' and text or '…' -- of an empty one nothing is told
  loops.preview(vim.tbl_extend('force', box.options, { prompt = prompt }), callback)
end

--- Shows above the text what will run, in the sidecar's words.
---@param box ralph.Box
local function show_preview(box)
  ask_preview(box, function(err, preview)
    if err or not (preview and preview.text) then
      return set_bar(box, 'WarningMsg', err and err.message or '')
    end
    local problem = (preview.problems or {})[1]
    if problem then
      return set_bar(box, 'WarningMsg', problem.text)
    end
    set_bar(box, 'Comment', preview.text)
  end)
end

---@param box ralph.Box
local function preview_soon(box)
  box.changes = box.changes + 1
  local now = box.changes
  vim.defer_fn(function()
    if now == box.changes and vim.api.nvim_buf_is_valid(box.buf) then
      show_preview(box)
    end
  end, pause)
end

--- The prompts that pi has for the folder, without their front matter.
---@param folder string
---@return { title: string, text: string }[]
local function library(folder)
  local paths = vim.fn.glob(vim.fn.escape(folder, '*?[]{}\\') .. '/.pi/prompts/*.md', true, true)
  return vim.tbl_map(function(path)
    local text = table.concat(vim.fn.readfile(path), '\n')
    return {
      title = '.pi/prompts/' .. vim.fs.basename(path),
      text = vim.trim((text:gsub('^%-%-%-\n.-\n%-%-%-\n', ''))),
    }
  end, paths)
end

--- Lets the user take a prompt of before, or one of pi's, in place of the text.
---@param box ralph.Box
local function choose_recent(box)
  local folder = box.options.folder
  local argument = { folder = vim.uri_from_fname(folder) }
  client.execute(folder, wire.commands.prompts, argument, function(err, result)
    if err then
      return notify.error(err.message)
    end
    local prompts = vim.list_extend(result.prompts, library(folder))
    if #prompts == 0 then
      return notify.info('no loop was started here yet')
    end
    vim.ui.select(prompts, {
      prompt = 'Ralph, recent prompts',
      kind = 'ralph.prompts',
      format_item = function(one)
        return one.title
      end,
    }, function(one)
      if one and vim.api.nvim_buf_is_valid(box.buf) then
        vim.api.nvim_buf_set_lines(
          box.buf,
          0,
          -1,
          false,
          vim.split(one.text, '\n', { plain = true })
        )
      end
    end)
  end)
end

---@param box ralph.Box
---@return ralph.Key[]
local function keys(box)
  return {
    {
      '<C-s>',
      'start the loop (:w does so too)',
      function()
        start(box)
      end,
    },
    {
      'q',
      'leave, and keep the text for the next time',
      function()
        close(box)
      end,
    },
    {
      'gp',
      'take a recent prompt, or one of .pi/prompts (u brings the text back)',
      function()
        choose_recent(box)
      end,
    },
    {
      'go',
      'start with more: what this start leaves open',
      function()
        if vim.trim(text_of(box)) == '' then
          return notify.warn('the prompt is empty')
        end
        ask_preview(box, function(err, preview)
          local offers = preview and preview.offers or {}
          if err then
            notify.error(err.message)
          elseif #offers == 0 then
            notify.info('this start leaves nothing open')
          else
            close(box)
            require('ralph.ask').offer(preview.text, box.options.folder, offers)
          end
        end)
      end,
    },
    {
      'K',
      'what will run',
      function()
        ask_preview(box, function(err, preview)
          if err then
            notify.error(err.message)
          elseif preview and preview.details then
            require('ralph.show').preview(preview)
          end
        end)
      end,
    },
  }
end

--- What happens to the buffer is the box's.
---@param box ralph.Box
local function watch(box)
  local group = vim.api.nvim_create_augroup('ralph.box.' .. box.buf, { clear = true })
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = box.buf, callback = callback })
  end
  on('BufWriteCmd', function()
    start(box)
  end)
  on({ 'TextChanged', 'TextChangedI' }, function()
    preview_soon(box)
  end)
  on('BufWinLeave', function()
    keep(box)
  end)
  vim.api.nvim_create_autocmd('ExitPre', {
    group = group,
    callback = function()
      keep(box)
    end,
  })
end

---@param folder string
---@return ralph.Box
local function new(folder)
  local buf = vim.api.nvim_create_buf(false, true)
  local box = { buf = buf, options = { folder = folder }, changes = 0 }
  vim.api.nvim_buf_set_name(buf, 'ralph-prompt://' .. folder)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(draft.read(folder), '\n'))
  vim.bo[buf].buftype = 'acwrite'
  vim.bo[buf].filetype = 'markdown'
  vim.bo[buf].omnifunc = "v:lua.require'ralph.box'.complete"
  vim.bo[buf].modified = false
  vim.b[buf].ralph_folder = folder
  require('ralph.keys').set(buf, 'Ralph: the prompt', keys(box))
  vim.keymap.set('i', '<C-s>', function()
    start(box)
  end, { buffer = buf, desc = 'Ralph: start the loop' })
  watch(box)
  boxes[folder] = box
  return box
end

--- Opens the window of a folder's prompt, with the draft that was left there.
---@param options ralph.StartOptions with its folder
---@param callback? ralph.Callback of the start
function M.open(options, callback)
  local box = boxes[options.folder]
  if not box or not vim.api.nvim_buf_is_loaded(box.buf) then -- :q! unloads it
    if box and vim.api.nvim_buf_is_valid(box.buf) then
      vim.api.nvim_buf_delete(box.buf, { force = true })
    end
    box = new(options.folder)
  end
  box.options, box.callback = options, callback
  if box.win and vim.api.nvim_win_is_valid(box.win) then
    vim.api.nvim_set_current_win(box.win)
  else
    box.win = float.open(box.buf, { width = 90, height = 14 }, {
      title = ('Ralph in %s: what is to be done?'):format(vim.fs.basename(options.folder)),
      footer = ':w starts, q keeps it for later, g? lists the keys',
    })
    vim.bo[box.buf].bufhidden = 'hide'
    vim.wo[box.win].wrap = true
    vim.wo[box.win].linebreak = true
  end
  set_bar(box, 'Comment', '')
  show_preview(box)
  if text_of(box) == '' then
    vim.cmd.startinsert()
  end
end

--- Starts the loop of the box that is open, or of the folder's draft.
---@param folder string
function M.go(folder)
  local box = boxes[vim.b.ralph_folder or folder] or boxes[folder]
  if not box then
    return notify.info('no prompt is being written here; :Ralph prompt begins one')
  end
  start(box)
end

--- The files of a folder that git knows of or doesn't ignore; without git those below
--- what is typed.
---@param folder string
---@param typed string
---@return string[]
local function files(folder, typed)
  -- The monitor would be a program that the repository names.
  local command = { 'git', '-C', folder, '-c', 'core.fsmonitor=false' }
  vim.list_extend(command, { 'ls-files', '-co', '--exclude-standard', '-z' })
  local ok, result = pcall(function()
    return vim.system(command, { cwd = require('ralph.binary').outside, timeout = 2000 }):wait()
  end)
  if ok and result.code == 0 then
    return vim.split(result.stdout, '\0', { plain = true, trimempty = true })
  end
  return vim.tbl_map(function(path)
    return path:sub(#folder + 2)
  end, vim.fn.getcompletion(folder .. '/' .. typed, 'file'))
end

--- Completes @file, as 'omnifunc' does.
---@param findstart integer
---@param base string
---@return integer|table[]
function M.complete(findstart, base)
  if findstart == 1 then
    local before = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    local at = before:match('^.*%f[@%S]()@%S*$') or before:match('^()@%S*$')
    return at and at - 1 or -3
  end
  local typed = base:sub(2)
  local names = files(vim.b.ralph_folder, typed)
  if typed ~= '' then
    names = vim.fn.matchfuzzy(names, typed)
  end
  return vim.tbl_map(function(name)
    return { word = '@' .. name, menu = '[file]' }
  end, vim.list_slice(names, 1, max_matches))
end

return M
