-- The command, the mappings and what starts by itself. Everything else is
-- loaded when it is needed.
if vim.g.loaded_ralph then
  return
end
vim.g.loaded_ralph = true

vim.g.ralph_status = vim.g.ralph_status or '' -- a 'statusline' may name it before a loop runs

local group = vim.api.nvim_create_augroup('ralph', { clear = true })

-- Whether the command line that was entered last begins with the selection: its
-- marks stay for good, and :% or :2 may have the same lines. The history knows
-- it when a plugin manager loads us for that command.
local function is_selected(line)
  return line:find("'<,'>%s*R") ~= nil
end
local selected = is_selected(vim.fn.histget(':', -1))

vim.api.nvim_create_autocmd('CmdlineLeave', {
  group = group,
  pattern = ':',
  callback = function()
    selected = is_selected(vim.fn.getcmdline())
  end,
})

vim.api.nvim_create_user_command('Ralph', function(command)
  local was_selected = selected
  selected = false
  require('ralph.commands').run(command, was_selected)
end, {
  nargs = '*',
  bang = true,
  range = true,
  desc = 'Run coding agents in a loop',
  complete = function(lead, line)
    return require('ralph.commands').complete(lead, line)
  end,
})

for name, lhs in pairs({
  start = '<Plug>(ralph-start)',
  cancel = '<Plug>(ralph-cancel)',
  pause = '<Plug>(ralph-pause)',
  next = '<Plug>(ralph-next)',
  detach = '<Plug>(ralph-detach)',
  answer = '<Plug>(ralph-answer)',
  resume = '<Plug>(ralph-resume)',
  steer = '<Plug>(ralph-steer)',
  status = '<Plug>(ralph-status)',
  output = '<Plug>(ralph-output)',
  changes = '<Plug>(ralph-changes)',
  diff = '<Plug>(ralph-diff)',
}) do
  vim.keymap.set('n', lhs, ('<Cmd>Ralph %s<CR>'):format(name), { desc = 'Ralph ' .. name })
end
vim.keymap.set('i', '<Plug>(ralph-answer)', '<Cmd>Ralph answer<CR>', { desc = 'Ralph answer' })
vim.keymap.set('x', '<Plug>(ralph-start)', ':Ralph start<CR>', {
  desc = 'Ralph start with the selection',
})
vim.keymap.set('x', '<Plug>(ralph-steer)', ':Ralph steer<CR>', {
  desc = 'Ralph steer with the selection',
})

-- A session that :mksession wrote names such a buffer with :file.
vim.api.nvim_create_autocmd({ 'BufReadCmd', 'BufFilePost' }, {
  group = group,
  pattern = 'ralph-loops://*',
  callback = function(event)
    require('ralph.overview').read(event.buf)
  end,
})
vim.api.nvim_create_autocmd({ 'BufReadCmd', 'BufFilePost' }, {
  group = group,
  pattern = { 'ralph://*', 'ralph-session://*' },
  callback = function(event)
    require('ralph.output').read(event.buf, vim.api.nvim_buf_get_name(event.buf))
  end,
})

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = group,
  pattern = { 'PROMPT*.md', '*/.pi/ralph-loop.local.md', 'ralph.toml' },
  callback = function(event)
    require('ralph.start').document(event.buf)
  end,
})

-- Such a file may be a plan, if a loop was here: none starts the sidecar.
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = group,
  pattern = { '*.md', 'prd.json' },
  callback = function(event)
    if package.loaded['ralph.client'] then
      require('ralph.client').attach(event.buf)
    end
  end,
})

-- A loop that was left behind is offered at once.
local function look_for_loop()
  if vim.uv.fs_stat(vim.fs.joinpath(vim.fn.getcwd(), '.pi', 'ralph-loop.local.md')) then
    require('ralph.start').folder()
  end
end

vim.api.nvim_create_autocmd({ 'VimEnter', 'DirChanged' }, {
  group = group,
  callback = look_for_loop,
})
if vim.v.vim_did_enter == 1 then
  look_for_loop() -- the plugin was loaded late
end
