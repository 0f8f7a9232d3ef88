--- Where a prompt comes from that isn't in the command.
local config = require('ralph.config')
local float = require('ralph.float')
local notify = require('ralph.notify')

local M = {}

--- The text of a range of lines, or of what is selected in them.
---@param first integer
---@param last integer
---@param selected boolean the range was made from the selection
---@return string
function M.lines(first, last, selected)
  local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  local mode = vim.fn.visualmode()
  if selected and mode ~= 'V' and from[2] == first and to[2] == last then
    return table.concat(vim.fn.getregion(from, to, { type = mode }), '\n')
  end
  return table.concat(vim.api.nvim_buf_get_lines(0, first - 1, last, false), '\n')
end

--- The prompt file of a folder, if there is one.
---@param folder string
---@return string?
function M.file(folder)
  local path = vim.fs.joinpath(folder, config.get().prompt_file)
  return vim.uv.fs_stat(path) and path or nil
end

--- Opens a small window to write a prompt in; submit gets what was written.
---@param submit fun(prompt: string)
function M.edit(submit)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].buftype = 'acwrite'
  vim.api.nvim_buf_set_name(buf, ('ralph-prompt://%d'):format(buf))
  vim.bo[buf].filetype = 'markdown'
  local win = float.open(buf, { width = 90, height = 14 }, {
    title = 'Ralph: what is to be done?',
    footer = ':w or <C-s> starts, q leaves',
  })
  local function close()
    if vim.api.nvim_win_is_valid(win) then -- :wq closes it as well
      vim.bo[buf].modified = false
      vim.api.nvim_win_close(win, true)
    end
  end
  local function written()
    return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  end
  local function start()
    local text = written()
    if vim.trim(text) == '' then
      return notify.warn('the prompt is empty')
    end
    vim.cmd.stopinsert()
    vim.schedule(close)
    vim.bo[buf].modified = false
    submit(text)
  end
  local function leave()
    if vim.trim(written()) == '' then
      return close()
    end
    require('ralph.ask').throw_away(close)
  end
  vim.api.nvim_create_autocmd(
    'BufWriteCmd',
    { pattern = vim.api.nvim_buf_get_name(buf), callback = start }
  )
  vim.keymap.set({ 'n', 'i' }, '<C-s>', start, { buffer = buf, desc = 'Start the loop' })
  vim.keymap.set('n', 'q', leave, { buffer = buf, nowait = true, desc = 'Leave' })
  vim.cmd.startinsert()
end

--- A start came without a prompt: takes the prompt file, or asks for one.
---@param options ralph.StartOptions
---@param err ralph.Error
---@param callback? ralph.Callback
function M.missing(options, err, callback)
  local file = M.file(options.folder)
  if options.prompt_file or options.prompt and options.prompt ~= '' then
    return notify.error(err.message) -- there was one, and it is empty
  end
  local function start(prompt)
    require('ralph.loops').start(vim.tbl_extend('force', options, prompt), callback)
  end
  if file then
    return start({ prompt_file = file })
  end
  M.edit(function(text)
    start({ prompt = text })
  end)
end

return M
