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

local function leaves(nvim, command)
  nvim:quit(command)
  expect.equal(nvim.exit_code, 0)
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

--- The refusal names the loop, and the two ways out of it.
local refusal = 'Ralph loop in [%w]+: :Ralph detach keeps it, :qa! ends it'

it('refuses to leave a loop without confirm', function()
  local nvim = busy('noconfirm nohidden')
  nvim:command('write')
  nvim:command('split other.txt')
  nvim:command('quit') -- this window alone
  local windows = nvim:lua('return #vim.api.nvim_list_wins()')
  nvim:type(':qa<CR><CR>') -- it waits for a Return
  nvim:wait([[vim.v.errmsg:find('^E162:.*' .. want)]], refusal)
  stays(nvim)
  nvim:type(':wqa<CR>')
  nvim:wait_note('^' .. refusal)
  stays(nvim)
  expect.equal(nvim:lua('return #vim.api.nvim_list_wins()'), windows)
  nvim:command('undo') -- its buffer wasn't unloaded
  expect.equal(nvim:text(), '')
  leaves(nvim, 'qa!')
end)

--- Another Neovim finds the loop, which goes on alone, and ends it. Nothing is left of it.
local function ends_elsewhere(nvim)
  local second = child.start({ dir = nvim.dir, home = nvim.home })
  second:wait([[(require('ralph').status().loops[1] or {}).detached]])
  second:wait([[require('ralph').statusline():find('alone · bash sleep 900')]])
  local pid = tonumber(child.read(nvim.dir .. '/tool.pid'))
  assert(child.is_alive(pid))
  second:command('Ralph cancel')
  second:wait_event('RalphEnded', { stopReason = 'cancelled' })
  expect.equal(child.read(nvim.dir .. '/.pi/ralph-loop.local.md'), nil)
  assert(not child.is_alive(pid), 'the tool is alive')
end

it('leaves a loop that is detached, and it goes on', function()
  local nvim = busy('noconfirm')
  nvim:command('Ralph detach')
  nvim:wait_note('the loop goes on alone')
  nvim:wait([[not vim.list_contains(require('ralph').status().loops[1].can, 'detach')]])
  leaves(nvim, 'wqa')
  ends_elsewhere(nvim)
end)

it('keeps loops where that is set', function()
  local nvim = child.start({ ralph = { on_close = 'keep' } })
  nvim:command([[Ralph start 'agent: hang']])
  nvim:wait([[require('ralph').statusline():find('alone · bash sleep 900')]])
  leaves(nvim, 'qa')
  ends_elsewhere(nvim)
end)
