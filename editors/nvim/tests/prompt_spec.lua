-- The window in which a prompt is written.
local child = require('child')
local expect = require('expect')
local it = _G.it

--- Opens the window with a command, and waits until it is there.
local function open(nvim, command)
  nvim:command(command)
  nvim:wait([[vim.api.nvim_win_get_config(0).relative == 'editor' and vim.bo.buftype == 'acwrite']])
  return nvim
end

local function closed(nvim)
  nvim:wait('#vim.api.nvim_list_wins() == 1')
  expect.equal(nvim:lua('return vim.v.errmsg'), '')
end

local flags = ' --completion-promise=DONE --no-instruct'

for _, write in ipairs({
  '<Esc>:w<CR>',
  '<Esc>:wq<CR>',
  '<Esc>:x<CR>',
  '<Esc>ZZ',
  '<C-s>',
  '<Esc>:Ralph go<CR>',
}) do
  it('starts with ' .. write, function()
    local nvim = open(child.start(), 'Ralph start' .. flags)
    nvim:type('Written here<CR>in two lines' .. write)
    nvim:wait_event('RalphEnded', { stopReason = 'promise' })
    expect.equal(nvim:wait_file('prompt.txt'), 'Written here\nin two lines')
    closed(nvim)
    open(nvim, 'Ralph start')
    expect.equal(nvim:text(), '') -- it is no draft any more
  end)
end

for _, leave in ipairs({ '<Esc>q', '<Esc>:q<CR>', '<Esc>:q!<CR>', '<Esc>:close<CR>' }) do
  it('keeps the text for the next time after ' .. leave, function()
    local nvim = open(child.start(), 'Ralph start')
    nvim:type('A long prompt' .. leave)
    closed(nvim)
    open(nvim, 'Ralph start')
    expect.equal(nvim:text(), 'A long prompt')
    expect.equal(nvim:lua('return #asked'), 0)
  end)
end

it('keeps the text beyond the end of Neovim, which asks nothing', function()
  for _, command in ipairs({ 'qall', 'wqall', 'qall!' }) do
    local nvim = open(child.start(), 'Ralph prompt')
    nvim:type('A long prompt<CR>in two lines')
    nvim:wait('vim.api.nvim_buf_line_count(0) == 2')
    nvim:quit(command)
    local again = open(child.start({ dir = nvim.dir, home = nvim.home }), 'Ralph prompt')
    expect.equal(again:text(), 'A long prompt\nin two lines')
    expect.equal(child.read(nvim.dir .. '/.pi/ralph-loop.local.md'), nil)
  end
end)

it('keeps the text when the start is refused', function()
  local nvim = open(child.start({ ralph = { flags = { '--bakend=pi' } } }), 'Ralph prompt')
  nvim:type('A long prompt<C-s>')
  nvim:wait_note('did you mean %-%-backend')
  closed(nvim)
  open(nvim, 'Ralph prompt')
  expect.equal(nvim:text(), 'A long prompt')
end)

it('says what will run, and what is in its way', function()
  local nvim = open(child.start(), 'Ralph prompt --max-iterations=7 --max-cost=2')
  nvim:wait([[vim.wo.winbar:find('Comment.*pi.*7 iterations.*%$2%.00')]])
  nvim:type('end with <lt>promise>OVER<lt>/promise><Esc>')
  nvim:type('K')
  nvim:wait([[vim.fn.search('Promise .*OVER', 'nw') > 0]])
  nvim:type('q')
  nvim:command([[let g:ralph = {'cmd': g:ralph.cmd, 'flags': ['--bakend=pi']}]])
  open(nvim, 'Ralph prompt')
  nvim:wait([[vim.wo.winbar:find('WarningMsg.*did you mean %-%-backend')]])
end)

it('takes a recent prompt, and undo brings the text back', function()
  local nvim = child.start()
  nvim:command('Ralph once' .. flags .. ' The first of all')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  open(nvim, 'Ralph prompt')
  nvim:type('Mine<Esc>')
  nvim:answer('recent prompts', 'The first of all')
  nvim:type('gp')
  nvim:wait([[vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'The first of all']])
  nvim:type('u')
  nvim:wait([[vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'Mine']])
end)

it("takes one of pi's prompts", function()
  local dir = child.folder()
  vim.fn.mkdir(dir .. '/.pi/prompts', 'p')
  child.write(dir .. '/.pi/prompts/tidy.md', '---\ndescription: x\n---\n\nTidy {file}\n')
  local nvim = child.start({ dir = dir })
  nvim:command('Ralph prompt')
  nvim:type('<Esc>')
  nvim:answer('recent prompts', '.pi/prompts/tidy.md')
  nvim:type('gp')
  nvim:wait([[vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == 'Tidy {file}']])
  nvim:command('w')
  nvim:wait_note('there is nothing for {file}')
end)

it('completes the files of the folder', function()
  local dir = child.folder()
  vim.fn.mkdir(dir .. '/src')
  for _, name in ipairs({ 'src/parser.go', 'src/printer.go', 'README.md' }) do
    child.write(dir .. '/' .. name, '')
  end
  for _, git in ipairs({ false, true }) do
    if git then
      vim.system({ 'git', 'init', '-q' }, { cwd = dir }):wait()
      child.write(dir .. '/evil', '#!/bin/sh\n>' .. dir .. '/ran\n')
      vim.fn.setfperm(dir .. '/evil', 'rwxr-xr-x')
      vim.system({ 'git', 'config', 'core.fsmonitor', dir .. '/evil' }, { cwd = dir }):wait()
    end
    local nvim = open(child.start({ dir = dir }), 'Ralph prompt')
    nvim:type('Mend me@x @src/pars<C-x><C-o>')
    nvim:wait([[vim.api.nvim_get_current_line() == 'Mend me@x @src/parser.go']])
    nvim:type('<Esc>')
    nvim:finish()
  end
  expect.equal(vim.uv.fs_stat(dir .. '/ran'), nil) -- which the repository names
end)

it('keeps the window on the screen', function()
  local nvim = open(child.start(), 'Ralph start')
  nvim:command('set columns=50 lines=15')
  nvim:wait([[vim.api.nvim_win_get_width(0) == 42 and vim.api.nvim_win_get_height(0) == 9]])
end)

it('leaves the window as its user moved and resized it', function()
  local nvim = open(child.start(), 'Ralph start')
  nvim:type('<Esc>')
  nvim:lua([[
    vim.api.nvim_create_autocmd({ 'WinResized', 'BufWinEnter', 'TabEnter' }, {
      callback = function(event)
        _G.came = came or event.event
      end,
    })
  ]])
  nvim:command('resize 5 | vertical resize 40')
  nvim:wait([[came == 'WinResized']])
  nvim:lua([[
    vim.api.nvim_win_set_config(0, { relative = 'editor', row = 1, col = 2 })
  ]])
  nvim:command('wincmd t | edit a.txt | tabnew | tabprevious')
  expect.equal(
    nvim:lua([[
      local win = vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(one)
        return vim.api.nvim_win_get_config(one).relative ~= ''
      end)
      local config = vim.api.nvim_win_get_config(win)
      return { config.row, config.col, config.width, config.height }
    ]]),
    { 1, 2, 40, 5 }
  )
end)

it('says that an empty prompt starts nothing', function()
  local nvim = open(child.start(), 'Ralph prompt')
  nvim:type('<C-s>')
  nvim:wait_note('the prompt is empty')
end)
