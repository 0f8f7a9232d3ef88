local child = require('child')
local expect = require('expect')
local it = _G.it

local check = [[
echo 'shop.go:3:6: undefined: x'
echo '    cart_test.go:1: got 3'
echo '/elsewhere/lib.go:9:1: broken'
echo '--- FAIL: TestCart (0.00s)'
exit 1
]]

--- A Neovim whose loop has ended after a check that failed.
local function after_check(options)
  local dir = child.folder()
  vim.fn.mkdir(dir .. '/cart')
  child.write(dir .. '/shop.go', 'package shop\n\nfunc f() {}\n')
  child.write(dir .. '/cart/cart_test.go', 'package cart\n')
  child.write(dir .. '/check.sh', check)
  local nvim = child.start(vim.tbl_extend('force', { dir = dir }, options or {}))
  nvim:command('edit shop.go')
  nvim:lua([[
    vim.diagnostic.set(vim.api.nvim_create_namespace('other'), 0, {
      { lnum = 0, col = 0, message = 'of another server', severity = vim.diagnostic.severity.ERROR },
    })
  ]])
  nvim:command(
    [[Ralph start --max-iterations=1 --completion-promise=DONE --verify='sh check.sh' 'agent: promise 1']]
  )
  nvim:wait_event('RalphEnded')
  return nvim
end

--- The messages of the diagnostics in the current buffer.
local shown = [[vim.iter(vim.diagnostic.get(0)):map(function(d)
  return ('%d:%d %s'):format(d.lnum + 1, d.col + 1, d.message)
end):totable()]]

local function quickfix(nvim)
  nvim:wait([[vim.bo.buftype == 'quickfix']])
  return nvim:lua([[
    return vim.tbl_map(function(item)
      local name = item.bufnr > 0 and vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)) or '-'
      return ('%s:%d:%d %s'):format(name, item.lnum, item.col, item.text)
    end, vim.fn.getqflist())
  ]])
end

local places = {
  'shop.go:3:6 undefined: x',
  'cart_test.go:1:0 got 3',
  '-:9:1 /elsewhere/lib.go: broken',
}

it('shows where a check failed, and says how to find it', function()
  local nvim = after_check({ ralph = { notify = 'always' } })
  nvim:wait_note('^Ralph: promised, but sh check.sh failed.* %(:Ralph problems%)$')
  nvim:wait('#' .. shown .. ' == 2')
  local messages = nvim:lua('return ' .. shown)
  table.sort(messages)
  expect.equal(messages, { '1:1 of another server', '3:6 undefined: x' })
  nvim:command('Ralph problems')
  expect.equal(quickfix(nvim), places)
  expect.contains(nvim:lua('return vim.fn.getqflist({ title = true }).title'), 'Ralph: promised')
  nvim:command('cclose')
  nvim:command([[Ralph start 'agent: hang']]) -- another loop: nothing is known of it
  nvim:wait('#' .. shown .. ' == 1')
  expect.equal(nvim:lua('return ' .. shown), { '1:1 of another server' })
end)

it('lists them after a restart', function()
  local first = after_check()
  local second = child.start({ dir = first.dir, home = first.home })
  second:command('Ralph problems')
  expect.equal(quickfix(second), places)
end)

it('says why there is nothing to list', function()
  local nvim = child.start()
  nvim:command('Ralph problems')
  nvim:wait('#notes == 1')
end)
