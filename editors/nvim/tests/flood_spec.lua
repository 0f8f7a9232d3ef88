local child = require('child')
local expect = require('expect')
local it = _G.it

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
  _G.gap, _G.gap_with_others, _G.turns = 0, 0, 0
  vim.uv.new_timer():start(1, 1, vim.schedule_wrap(function()
    local now, waited_now = vim.uv.hrtime(), waited()
    local all = now - last
    gap = math.max(gap, (all - (waited_now - last_waited)) / 1e6)
    gap_with_others = math.max(gap_with_others, all / 1e6)
    last, last_waited = now, waited_now
    if tools > 0 and not ended then turns = turns + 1 end
  end))
]]

-- How long the main loop is away at most is a figure of make bench, which has more events.
local events = vim.env.RALPH_BENCH and 100000 or 40000

--- Waits until the loop has ended. How long that takes depends on what else runs; it hangs when
--- nothing comes any more.
local function wait_for_the_end(nvim)
  local before = -1
  repeat
    local ended
    local goes_on = vim.wait(child.patience, function()
      local now = nvim:lua('return { tools = tools, ended = ended ~= nil }')
      local moved = now.tools > before
      before, ended = now.tools, now.ended
      return ended or moved
    end, 200)
    if not goes_on then
      nvim:fail('the flood did not end', { tools = before })
    end
  until ended
end

it('takes its turns while a flood of events comes', function()
  local nvim = child.start()
  nvim:command('Ralph output')
  nvim:command('Ralph cancel')
  nvim:wait_note('no loop is running') -- the sidecar is up
  nvim:lua(measure)
  nvim:command(([[Ralph start --completion-promise=DONE 'agent: flood %d']]):format(events))
  wait_for_the_end(nvim)
  expect.equal(nvim:lua('return { ended.stopReason, tools }'), { 'promise', events / 2 })
  nvim:wait([[vim.fn.search('■ done: DONE', 'nw') > 0]])
  local turns, gap, with_others = unpack(nvim:lua('return { turns, gap, gap_with_others }'))
  assert(turns >= 20, turns .. ' turns of the main loop')
  local lines = nvim:lua('return vim.api.nvim_buf_line_count(0)')
  assert(lines <= 20000 and lines > 10000, lines .. ' lines')
  nvim:finish()
  if vim.env.RALPH_BENCH then
    local figures = '%d events in Neovim %s: the main loop is away for %.1f ms at most, '
      .. '%.1f ms with what other processes took, and has %d turns\n'
    io.write(figures:format(events, tostring(vim.version()), gap, with_others, turns))
  end
end)
