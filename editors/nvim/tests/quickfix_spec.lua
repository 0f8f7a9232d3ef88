-- The quickfix list of what a loop changed, which follows what is done with it.
local expect = require('expect')
local repositories = require('repositories')
local it = _G.it

local ten = '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n'
local mine = { { filename = 'a.txt', lnum = 7, text = 'mine' } }

local after_loop = repositories.after_loop

--- Waits until the list has these places.
local function lists(nvim, ...)
  nvim:wait(
    [[vim.deep_equal(vim.tbl_map(function(item)
      return item.lnum .. ' ' .. item.text
    end, vim.fn.getqflist()), want)]],
    { ... }
  )
end

--- Keeps the commands that are sent to the sidecar from now on.
local function record(nvim)
  nvim:lua([[
    local client = require('ralph.client')
    local execute = client.execute
    _G.sent = {}
    client.execute = function(folder, command, ...)
      table.insert(sent, command)
      return execute(folder, command, ...)
    end
  ]])
end

it('brings the list up to date with what is kept, undone and redone', function()
  local nvim =
    after_loop({ ['a.txt'] = ten }, [[ sed -i 's/^2$/two/' a.txt ]], [[ sed -i '1i zero' a.txt ]])
  nvim:command('Ralph changes')
  lists(nvim, '1 +1 -0 zero', '3 +1 -1 two')
  nvim:command('cnext')
  nvim:command('Ralph keep')
  lists(nvim, '1 ✓ +1 -0 zero', '3 ✓ +1 -1 two')
  expect.equal(nvim:lua('return vim.fn.getqflist({ idx = 0 }).idx'), 2)
  nvim:command('Ralph keep!')
  lists(nvim, '1 +1 -0 zero', '3 +1 -1 two')
  nvim:answer('would be', 'Undo')
  nvim:command('Ralph undo 2')
  lists(nvim, '2 +1 -1 two')
  nvim:lua([[vim.fn.setqflist(...)]], mine)
  nvim:command('Ralph redo')
  nvim:wait([[#vim.fn.getqflist({ nr = 1, items = 0 }).items == 2]])
  lists(nvim, '7 mine') -- another list is left alone
end)

it('brings the list up to date with the blocks that dp keeps', function()
  local nvim = after_loop({ ['a.txt'] = ten }, [[ sed -i 's/^2$/two/; s/^9$/nine/' a.txt ]])
  nvim:command('edit a.txt')
  nvim:command('Ralph changes')
  lists(nvim, '2 +1 -1 two', '9 +1 -1 nine')
  nvim:command('wincmd p')
  nvim:command('Ralph diff')
  nvim:wait('vim.wo.diff')
  for _, line in ipairs({ '2', '9' }) do
    nvim:command(line)
    nvim:command('normal dp')
  end
  lists(nvim, '2 ✓ +1 -1 two', '9 ✓ +1 -1 nine')
end)

it('leaves the list as it is where nothing was kept', function()
  local nvim = after_loop({ ['a.txt'] = ten }, [[ sed -i 's/^2$/two/' a.txt ]])
  nvim:command('Ralph changes')
  lists(nvim, '2 +1 -1 two')
  record(nvim)
  nvim:command('Ralph keep ../a.txt')
  nvim:wait_note("is not in the loop's folder")
  expect.equal(nvim:lua('return sent'), { 'ralph.loop.keep' })
end)

it('leaves a list alone that has taken the place of its own', function()
  local nvim = after_loop({ ['a.txt'] = ten }, [[ sed -i 's/^2$/two/' a.txt ]])
  nvim:command('Ralph changes')
  lists(nvim, '2 +1 -1 two')
  nvim:lua([[vim.fn.setqflist(..., 'r')]], mine)
  record(nvim)
  nvim:command('Ralph keep')
  nvim:wait_note('1 file kept')
  expect.equal(nvim:lua('return sent'), { 'ralph.loop.keep' })
  lists(nvim, '7 mine')
end)

it('leaves a list alone that takes the place of its own meanwhile', function()
  local nvim = after_loop({ ['a.txt'] = ten }, [[ sed -i 's/^2$/two/' a.txt ]])
  nvim:command('Ralph changes')
  lists(nvim, '2 +1 -1 two')
  nvim:lua(
    [[
      local client = require('ralph.client')
      local execute = client.execute
      client.execute = function(folder, command, argument, callback)
        execute(folder, command, argument, function(...)
          if command == 'ralph.loop.changes' then
            vim.fn.setqflist(mine, 'r')
          end
          callback(...)
          _G.answered = command
        end)
      end
      _G.mine = ...
    ]],
    mine
  )
  nvim:command('Ralph keep')
  nvim:wait([[answered == 'ralph.loop.changes']])
  lists(nvim, '7 mine')
end)
