local child = require('child')
local expect = require('expect')
local it = _G.it

local max_gap = 50 -- milliseconds that the main loop may be away
local attempts = 3 -- a virtual machine may be stopped for a while

--- Counts instead of keeping: the test's own work must not be what is measured.
local measure = [[
  vim.api.nvim_clear_autocmds({ event = 'User', pattern = 'Ralph*' })
  _G.tools = 0
  vim.api.nvim_create_autocmd('User', { pattern = 'RalphTool', callback = function() tools = tools + 1 end })
  vim.api.nvim_create_autocmd('User', { pattern = 'RalphEnded', callback = function(event)
    _G.ended = event.data
  end })
  -- Time that the process waited for a processor isn't ours: other processes
  -- had it.
  local function waited()
    local file = io.open('/proc/self/schedstat')
    local text = file and file:read('*a') or ''
    if file then file:close() end
    return tonumber(text:match('^%d+ (%d+)')) or 0
  end
  local last, last_waited = vim.uv.hrtime(), waited()
  _G.gap, _G.gap_with_others = 0, 0
  vim.uv.new_timer():start(1, 1, vim.schedule_wrap(function()
    local now, waited_now = vim.uv.hrtime(), waited()
    local all = now - last
    gap = math.max(gap, (all - (waited_now - last_waited)) / 1e6)
    gap_with_others = math.max(gap_with_others, all / 1e6)
    last, last_waited = now, waited_now
  end))
]]

--- Runs a flood, and returns the longest time between two ticks of a timer.
local function longest_gap()
  local nvim = child.start()
  nvim:command('Ralph output')
  nvim:command('Ralph cancel')
  nvim:wait_note('no loop is running') -- the sidecar is up
  nvim:lua(measure)
  nvim:command([[Ralph start --completion-promise=DONE 'agent: flood 100000']])
  local over = vim.wait(30000, function()
    return nvim:lua('return ended ~= nil')
  end, 200)
  assert(over, 'the flood did not end')
  expect.equal(nvim:lua('return { ended.stopReason, tools }'), { 'promise', 2 * 25000 })
  nvim:wait([[vim.fn.search('■ done: DONE', 'nw') > 0]])
  local gap, with_others = unpack(nvim:lua('return { gap, gap_with_others }'))
  local lines = nvim:lua('return vim.api.nvim_buf_line_count(0)')
  assert(lines <= 20000 and lines > 10000, lines .. ' lines')
  nvim:finish()
  return gap, with_others
end

it('stays responsive while 100,000 events come', function()
  local gap
  for _ = 1, attempts do
    local with_others
    gap, with_others = longest_gap()
    if vim.env.RALPH_VERBOSE then
      io.write(
        ('     longest gap %.1f ms, %.1f ms with other processes\n'):format(gap, with_others)
      )
    end
    if gap <= max_gap then
      return
    end
  end
  error(('the main loop was away for %.0f ms'):format(gap))
end)
