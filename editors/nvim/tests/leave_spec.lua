local child = require('child')
local expect = require('expect')
local it = _G.it

--- A Neovim with a loop in the middle of a tool and a file that isn't saved.
local function busy(set)
  local nvim = child.start()
  nvim:command('set ' .. set)
  nvim:command([[Ralph start 'agent: hang']])
  nvim:wait_file('tool.pid')
  nvim:wait([[require('ralph').statusline():find('sleep 900')]])
  nvim:command('edit mine.txt')
  nvim:lua([[vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'mine' })]])
  return nvim
end

local function stays(nvim)
  nvim:wait([[vim.api.nvim_get_mode().mode == 'n']])
  nvim:wait([[#vim.fn.getbufinfo({ bufmodified = 1 }) <= 1]]) -- nothing of ours is left
  expect.matches(nvim:lua('return vim.api.nvim_buf_get_name(0)'), 'mine%.txt$')
  expect.equal(nvim:lua([[return require('ralph').status().loops[1].state]]), 'running')
end

local function leaves(nvim)
  expect.equal(vim.fn.jobwait({ nvim.channel }, child.patience)[1], 0)
  expect.contains(child.read(nvim.dir .. '/.pi/ralph-loop.local.md'), 'active: true')
end

-- Nobody sees the question here, and its answer is to stay; screen.sh answers it.
for command, set in pairs({ wqa = 'confirm', xa = 'confirm', ['confirm qa'] = 'noconfirm' }) do
  it('asks before :' .. command .. ' leaves a loop', function()
    local nvim = busy(set)
    nvim:type(':' .. command .. '<CR>')
    nvim:wait([[vim.uv.fs_stat('mine.txt')]])
    stays(nvim)
  end)
end

it('leaves at once without confirm', function()
  local nvim = busy('noconfirm')
  nvim:type(':wqa<CR>')
  leaves(nvim)
end)
