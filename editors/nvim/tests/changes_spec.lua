local child = require('child')
local expect = require('expect')
local repositories = require('repositories')
local it = _G.it

local ten = '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n'

local repository, after_loop = repositories.make, repositories.after_loop

--- A Neovim that is started anew where another one was left.
local function anew(nvim)
  nvim:quit()
  return child.start({ dir = nvim.dir, home = nvim.home })
end

--- Waits for the quickfix list: its title, and its places as "name:line text".
local function places(nvim, title)
  nvim:wait(
    "vim.bo.buftype == 'quickfix' and vim.fn.getqflist({ title = 1 }).title:find(want)",
    title or '^Ralph ralph%-'
  )
  return nvim:lua(
    [[
      local root, items = ... .. '/', vim.fn.getqflist()
      vim.fn.setqflist({}, 'f') -- the next one is told from this one
      return vim.tbl_map(function(item)
        local name = vim.api.nvim_buf_get_name(item.bufnr):sub(#root + 1)
        return ('%s:%d %s'):format(name, item.lnum, item.text)
      end, items)
    ]],
    nvim.dir
  )
end

local function lines_of(nvim, name)
  return nvim:lua('return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false)', name)
end

it('lists the places that a loop changed, whoever wrote them', function()
  local nvim = after_loop(
    {
      ['a.txt'] = ten,
      ['src/my b.txt'] = ten,
      ['gone.txt'] = 'x\n',
      ['old.txt'] = ten,
      bin = '\0\1',
    },
    [[
      sed -i -e 's/^2$/two/' -e '/^8$/d' a.txt
      rm gone.txt; mv old.txt new.txt; printf '\0\2' >bin
    ]],
    [[ sed -i '1i zero' a.txt; echo eleven >>"src/my b.txt"; git add -A ]]
  )
  nvim:command('Ralph changes')
  expect.equal(places(nvim), {
    'a.txt:1 +1 -0 zero',
    'a.txt:3 +1 -1 two',
    'a.txt:8 +0 -1 8',
    'bin:1 binary',
    'gone.txt:1 deleted +0 -1',
    'new.txt:1 renamed from old.txt',
    'src/my b.txt:11 +1 -0 eleven',
  })
  nvim:command('Ralph changes 1') -- lines as they are now
  local first = places(nvim, 'iteration 1')
  expect.equal({ first[1], first[2] }, { 'a.txt:3 +1 -1 two', 'a.txt:8 +0 -1 8' })
  nvim:command('Ralph changes src')
  expect.equal(places(nvim), { 'src/my b.txt:11 +1 -0 eleven' })
end)

it('lists them after a restart, and of a loop that another Neovim drives', function()
  local first = after_loop({ ['a.txt'] = ten }, [[ sed -i 's/^5$/five/' a.txt ]])
  local second = child.start({ dir = first.dir, home = first.home })
  second:command('Ralph changes')
  expect.equal(places(second), { 'a.txt:5 +1 -1 five' })
  local third = anew(first)
  third:command('Ralph changes')
  expect.equal(places(third), { 'a.txt:5 +1 -1 five' })
end)

it('says why there is nothing to show', function()
  local nvim = child.start()
  nvim:command('Ralph changes')
  nvim:wait_note('no snapshots')
  nvim:command('Ralph diff 1 a.txt')
  nvim:command('Ralph undo')
  nvim:wait('#notes == 3')
end)

it('completes iterations and files that changed', function()
  local nvim =
    after_loop({ ['a.txt'] = ten }, 'true', [[ echo x >a.txt ]], [[ mkdir new; echo x >new/b ]])
  local function complete(line)
    return nvim:lua([[return vim.fn.getcompletion(..., 'cmdline')]], line)
  end
  expect.equal(complete('Ralph changes '), { '2', '3', 'a.txt', 'new/b' })
  expect.equal(complete('Ralph diff 3 '), { 'a.txt', 'new/b' })
  expect.equal(complete('Ralph undo '), { 'since', '2', '3', 'a.txt', 'new/b' })
  expect.equal(complete('Ralph undo since n'), { 'new/b' })
  nvim:command('edit a.txt')
  nvim:type(':Ralph changes 3 n<Tab><CR>')
  expect.equal(places(nvim, 'iteration 3'), { 'new/b:1 +1 -0 x' })
end)

local function windows(nvim)
  return nvim:lua([[
    return vim.tbl_map(function(win)
      local buf = vim.api.nvim_win_get_buf(win)
      return vim.fs.basename(vim.api.nvim_buf_get_name(buf)) .. (vim.wo[win].diff and ' diff' or '')
    end, vim.api.nvim_tabpage_list_wins(0))
  ]])
end

--- The options that are set for the current window and buffer.
local function options(nvim)
  return nvim:lua('return vim.api.nvim_exec2("setlocal", { output = true }).output')
end

it('compares a file with the time before the loop, and takes a hunk back', function()
  local nvim = after_loop(
    { ['a.lua'] = ten },
    [[ sed -i 's/^2$/two/' a.lua ]],
    [[ sed -i 's/^9$/nine/' a.lua ]]
  )
  nvim:command('edit a.lua')
  nvim:lua([[
    vim.wo[0][0].wrap, vim.wo[0][0].foldcolumn = false, '3'
  ]])
  local before = options(nvim)
  nvim:command('Ralph diff')
  nvim:wait('vim.wo.diff')
  expect.equal(windows(nvim), { 'a.lua diff', 'a.lua diff' })
  expect.equal(
    nvim:lua([[
      local base = vim.api.nvim_win_get_buf(vim.api.nvim_tabpage_list_wins(0)[1])
      return { vim.bo[base].filetype, vim.bo[base].modifiable, vim.bo[base].buftype, vim.bo.buftype }
    ]]),
    { 'lua', false, 'nofile', '' }
  )
  expect.matches(
    nvim:lua('return vim.api.nvim_buf_get_name(vim.fn.winbufnr(1))'),
    '^ralph%-base://ralph%-%w+/base/a%.lua$'
  )
  nvim:command('2')
  nvim:command('normal! do') -- the agent's second line goes
  expect.equal({ lines_of(nvim, 'a.lua$')[2], lines_of(nvim, 'a.lua$')[9] }, { '2', 'nine' })
  nvim:command('write')
  nvim:command('Ralph diff 2') -- the ninth line only
  nvim:wait([[vim.api.nvim_buf_get_name(vim.fn.winbufnr(1)):find('/2/a.lua')]])
  expect.equal(windows(nvim), { 'a.lua diff', 'a.lua diff' })
  expect.equal(lines_of(nvim, '/2/a.lua')[2], 'two')
  nvim:command('wincmd h')
  nvim:command('9')
  nvim:command('normal! dp')
  expect.equal(lines_of(nvim, nvim.dir .. '/a.lua')[9], '9')
  nvim:command('quit')
  nvim:command('write')
  expect.equal(windows(nvim), { 'a.lua' })
  expect.equal(options(nvim), before)
  expect.equal(nvim:lua('return #vim.api.nvim_list_bufs()'), 1)
end)

it('keeps what changed block by block', function()
  local nvim = after_loop({ ['a.txt'] = ten }, [[ sed -i 's/^2$/two/; s/^9$/nine/' a.txt ]])
  nvim:command('edit a.txt')
  nvim:command('Ralph diff')
  nvim:wait('vim.wo.diff')
  nvim:command('2')
  nvim:command('normal dp')
  nvim:wait_note('one change kept')
  local base = lines_of(nvim, '/base/a.txt')
  expect.equal({ base[2], base[9] }, { 'two', '9' })
  local before = nvim:lua([[return vim.fn.bufnr('/base/a.txt')]])
  nvim:command('Ralph diff') -- again
  nvim:wait('not vim.api.nvim_buf_is_valid(want) and vim.wo.diff', before)
  expect.equal(nvim:lua('return #vim.api.nvim_list_bufs()'), 2)
  base = lines_of(nvim, '/base/a.txt')
  expect.equal({ base[2], base[9] }, { 'two', '9' })
  nvim:command('9')
  nvim:command('normal dp')
  nvim:wait_note('1 file kept')
  nvim:command('wincmd h')
  nvim:command('quit')
  expect.equal(nvim:lua([[return vim.fn.maparg('dp', 'n')]]), '')
end)

it('closes the other side of a diff with the file', function()
  local nvim = after_loop({ ['a.txt'] = ten }, [[ echo x >a.txt ]])
  nvim:command('edit a.txt')
  nvim:command('split')
  nvim:command('Ralph diff')
  nvim:wait('vim.wo.diff')
  nvim:command('quit')
  nvim:wait('#vim.api.nvim_tabpage_list_wins(0) == 1')
  expect.equal(windows(nvim), { 'a.txt' })
end)

it('ends a diff when its window shows another file', function()
  local nvim = after_loop({ ['a.txt'] = ten, ['b.txt'] = ten }, [[ echo x >a.txt ]])
  nvim:command('edit a.txt')
  local before = options(nvim)
  nvim:command('Ralph diff')
  nvim:wait('vim.wo.diff')
  nvim:command('edit b.txt')
  nvim:wait('#vim.api.nvim_tabpage_list_wins(0) == 1')
  expect.equal(windows(nvim), { 'b.txt' })
  nvim:command('edit a.txt')
  expect.equal(options(nvim), before)
end)

it('leaves the quickfix window alone', function()
  local nvim = after_loop({ ['a.txt'] = ten, ['b.txt'] = ten }, [[ echo x >a.txt; echo y >b.txt ]])
  nvim:command('edit b.txt')
  nvim:command('Ralph changes')
  nvim:wait([[vim.bo.buftype == 'quickfix']])
  nvim:command('Ralph diff a.txt')
  nvim:wait('vim.wo.diff')
  expect.equal(windows(nvim), { 'a.txt diff', 'a.txt diff', '' })
end)

it('compares files that were added, deleted and renamed', function()
  local nvim = after_loop(
    {
      ['gone.txt'] = 'x\n',
      ['old.txt'] = ten,
      ['dos.txt'] = '1\r\n2\r\n',
      ['mac.txt'] = '1\r2\r',
      bin = '\0\1',
    },
    [[
      echo new >added.txt; rm gone.txt; mv old.txt new.txt
      sed -i s/2/two/ dos.txt mac.txt; printf '\0\2' >bin
    ]]
  )
  local function sides(name)
    nvim:command('Ralph diff ' .. name)
    nvim:wait([[vim.fn.bufname(vim.fn.winbufnr(1)):find('ralph%-base.*' .. want)]], name)
    return nvim:lua([[
      return vim.tbl_map(function(win)
        return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false), ' ')
      end, vim.api.nvim_tabpage_list_wins(0))
    ]])
  end
  expect.equal(sides('added.txt'), { '', 'new' })
  expect.equal(sides('dos.txt'), { '1 2', '1 two' })
  expect.equal(sides('mac.txt'), { '1\r2\r', '1\rtwo\r' })
  nvim:command('set fileformats+=mac')
  nvim:command('bwipeout mac.txt')
  expect.equal(sides('mac.txt'), { '1 2', '1 two' })
  expect.equal(sides('gone.txt'), { 'x', '' })
  nvim:command('normal! do')
  nvim:command('write')
  expect.equal(child.read(nvim.dir .. '/gone.txt'), 'x\n')
  expect.equal(sides('new.txt'), { '1 2 3 4 5 6 7 8 9 10', '1 2 3 4 5 6 7 8 9 10' })
  nvim:command('Ralph diff bin')
  nvim:wait_note('bin')
  nvim:command('enew')
  nvim:command('Ralph diff ../x')
  nvim:wait_note("is not in the loop's folder")
  nvim:command('Ralph diff')
  nvim:wait_note(':Ralph diff %[n%] FILE')
end)

it('undoes an iteration, all since one, and the loop, and redoes that', function()
  local nvim = after_loop(
    { ['a.txt'] = ten },
    [[ sed -i 's/^2$/two/' a.txt ]],
    [[ sed -i 's/^5$/five/' a.txt; echo x >new.txt ]],
    [[ sed -i 's/^9$/nine/' a.txt ]]
  )
  local function has(want)
    nvim:wait(
      'table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt$"), 0, -1, false), " ") == want',
      want
    )
    expect.equal(child.read(nvim.dir .. '/a.txt'), want:gsub(' ', '\n') .. '\n')
  end
  nvim:command('edit a.txt')
  nvim:answer('would be', 'Undo')
  nvim:command('Ralph undo 2')
  has('1 two 3 4 5 6 7 8 nine 10')
  expect.equal(vim.uv.fs_stat(nvim.dir .. '/new.txt'), nil)
  nvim:command('Ralph redo')
  has('1 two 3 4 five 6 7 8 nine 10')
  nvim:answer('would be', 'Undo')
  nvim:command('Ralph undo since 2 a.txt')
  has('1 two 3 4 5 6 7 8 9 10')
  assert(vim.uv.fs_stat(nvim.dir .. '/new.txt'))
  nvim:answer('would be', 'Undo')
  nvim:command('Ralph undo')
  has('1 2 3 4 5 6 7 8 9 10')
  nvim:wait_note('1 file undone')
  expect.equal(nvim:lua('return asked[1].labels'), { 'Leave it', 'Undo' })
end)

it('leaves what was saved since a run that was cut off', function()
  local nvim = child.start({
    dir = repository(
      { ['a.txt'] = 'a\n', ['b.txt'] = 'b\n' },
      [[ echo agent >a.txt; echo agent >b.txt; echo yes >ready; sleep 900 ]]
    ),
  })
  nvim:command([[Ralph start --completion-promise=DONE 'agent: shell 1']])
  nvim:wait_file('ready')
  local lock = vim.json.decode(child.read(nvim.dir .. '/.pi/ralph-loop.local.lock'))
  vim.uv.kill(lock.pid, 'sigkill')
  nvim = anew(nvim)
  nvim:wait([=[(require('ralph').status().loops[1] or {}).state == 'interrupted']=])
  nvim:command('edit! b.txt')
  nvim:lua([[vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'mine' })]])
  nvim:command('write')
  nvim:answer('would be', 'Undo')
  nvim:command('Ralph undo')
  nvim:wait_note('undone')
  expect.equal(child.read(nvim.dir .. '/a.txt'), 'a\n')
  expect.equal(child.read(nvim.dir .. '/b.txt'), 'mine\n')
end)

it('undoes nothing that the user has not said yes to', function()
  local nvim = after_loop({ ['a.txt'] = ten }, [[ echo x >a.txt ]])
  nvim:answer('would be', 'Leave it')
  nvim:command('Ralph undo')
  nvim:wait('#asked == 1')
  nvim:command('Ralph undo 1') -- a later answer: the first was heard
  nvim:wait('#asked == 2')
  expect.equal(child.read(nvim.dir .. '/a.txt'), 'x\n')
end)

it('leaves text alone that is not saved', function()
  local nvim = after_loop({ ['a.txt'] = ten, ['b.txt'] = ten }, [[ sed -i 's/^2$/two/' a.txt ]])
  nvim:command('edit b.txt')
  nvim:lua([[vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'mine' })]]) -- not in the way
  nvim:command('hide edit a.txt')
  nvim:lua([[vim.api.nvim_buf_set_lines(0, 8, 9, false, { 'mine' })]])
  nvim:command('Ralph undo')
  nvim:wait('#asked == 1')
  expect.matches(nvim:lua('return asked[1].prompt'), 'not saved.*: a%.txt$')
  expect.equal(nvim:lua('return asked[1].labels'), { 'Leave it', 'Write and go on' })
  expect.equal(lines_of(nvim, 'a.txt$')[9], 'mine')
  expect.equal(child.read(nvim.dir .. '/a.txt'), ten:gsub('2', 'two', 1))
  nvim:answer('not saved', 'Write and go on')
  nvim:answer('would be', 'Undo')
  nvim:command('Ralph undo')
  nvim:wait([[vim.fn.getline(2) == '2']])
  expect.equal(lines_of(nvim, 'a.txt$')[9], 'mine') -- written, and merged
  expect.equal(lines_of(nvim, 'b.txt$')[1], 'mine')
  nvim:lua([[vim.api.nvim_buf_set_lines(0, 7, 8, false, { 'mine as well' })]])
  nvim:answer('not saved', 'Leave it')
  nvim:command('Ralph redo')
  nvim:wait('#asked == 4')
  expect.equal(vim.fn.readfile(nvim.dir .. '/a.txt')[2], '2')
end)

it('lists what an undo left as it is, and offers to merge it', function()
  local nvim =
    after_loop({ ['a.txt'] = ten, ['b.txt'] = ten }, [[ sed -i 's/^2$/two/' a.txt; echo y >b.txt ]])
  child.write(nvim.dir .. '/a.txt', (ten:gsub('2', 'mine', 1)))
  nvim:answer('would be', 'Undo')
  nvim:command('Ralph undo 1')
  local refused = { 'a.txt:1 it was changed since in the same place' }
  expect.equal(places(nvim, 'left as it is'), refused)
  expect.equal(child.read(nvim.dir .. '/b.txt'), ten)
  nvim:wait('#asked == 2')
  expect.equal(nvim:lua('return asked[2].labels'), { 'Leave it', 'a.txt: Merge with Markers' })

  nvim:command('edit a.txt')
  nvim:lua([[vim.api.nvim_buf_set_lines(0, 9, 10, false, { 'unsaved' })]])
  nvim:answer('left as it is', 'a.txt: Merge with Markers')
  nvim:answer('not saved', 'Write and go on')
  nvim:command('Ralph undo') -- nothing but that is left: no question before
  nvim:wait(
    [[vim.list_contains(vim.api.nvim_buf_get_lines(vim.fn.bufnr('a.txt$'), 0, -1, false), '=======')]]
  )
  local text = table.concat(lines_of(nvim, 'a.txt$'), '\n')
  for _, part in ipairs({ '<<<<<<<', '\nmine\n', '\n2\n', '>>>>>>>', '\nunsaved' }) do
    expect.contains(text, part)
  end
end)

it('offers to pause an agent that is at work before an undo', function()
  local dir = repository(
    { ['a.txt'] = ten },
    [[ echo x >a.txt ]],
    [[ while [ -e hold ]; do sleep 0.02; done ]]
  )
  child.write(dir .. '/hold', '')
  local nvim = child.start({ dir = dir })
  nvim:command("Ralph start --completion-promise=DONE 'agent: shell 2'")
  nvim:wait_event('RalphTool', { status = 'in_progress', iteration = 2 })
  nvim:answer('would be', 'Undo')
  nvim:answer('at work', 'Pause the Loop')
  nvim:command('Ralph undo 1')
  nvim:wait("asked[#asked] and asked[#asked].prompt:find('at work')")
  expect.equal(nvim:lua('return asked[#asked].labels'), { 'Leave it', 'Pause the Loop' })
  vim.uv.fs_unlink(dir .. '/hold')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
end)

it('keeps what was reviewed, beyond a restart', function()
  local nvim = after_loop(
    { ['a.txt'] = ten, ['b.txt'] = ten },
    [[ echo x >a.txt; echo y >b.txt ]],
    [[ echo z >>b.txt ]]
  )
  for _, which in ipairs({ 'a.txt', '1 b.txt' }) do
    nvim:lua('notes = {}')
    nvim:command('Ralph keep ' .. which)
    nvim:wait_note('1 file kept')
  end
  nvim = anew(nvim)
  nvim:command('Ralph changes')
  expect.equal(places(nvim), { 'a.txt:1 ✓ +1 -10 x', 'b.txt:1 +2 -10 y' })
  nvim:command('Ralph diff b.txt')
  nvim:wait('vim.wo.diff')
  expect.equal(lines_of(nvim, 'ralph-base'), { 'y' })
  nvim:command('Ralph keep! a.txt')
  nvim:wait_note('1 file to review again')
end)

it('sends remarks together, each with its place and what the lines replace', function()
  local nvim = after_loop({ ['a.txt'] = ten }, "sed -i 's/^2$/two/; /^5$/d; s/^9$/nine/' a.txt")
  nvim:command('edit a.txt')
  nvim:command('2Ralph remark Why two?')
  nvim:lua([[require('ralph').remark({ first = 4, last = 5, text = 'Keep 5.' })]])
  nvim:lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'new' })") -- lines move
  nvim:command('Ralph remark')
  expect.equal(places(nvim, 'remarks'), { 'a.txt:3 Why two?', 'a.txt:5 Keep 5.' })
  nvim:lua([[
    _G.sent, _G.fails = {}, true
    local client = require('ralph.client')
    local execute = client.execute
    client.execute = function(folder, command, argument, callback)
      if command ~= 'ralph.loop.start' then
        return execute(folder, command, argument, callback)
      end
      table.insert(_G.sent, argument.prompt)
      callback(_G.fails and { message = 'not today' } or nil, {})
    end
  ]])
  nvim:wait([[(require('ralph').status().loops[1] or {}).state == 'ended']])
  nvim:command('Ralph remark!')
  nvim:wait_note('not today')
  nvim:lua('_G.fails = false')
  nvim:command('Ralph remark!')
  nvim:wait('#sent == 2')
  local sent = nvim:lua('return sent')
  expect.equal(sent[1], sent[2])
  expect.equal(
    sent[1],
    'Remarks on your changes:\n\na.txt:3\n```diff\n-2\n+two\n```\nWhy two?\n\n'
      .. 'a.txt:5-6\n```diff\n 4\n-5\n 6\n```\nKeep 5.'
  )
  nvim:command('Ralph remark')
  nvim:wait_note('there is no remark')
end)

it('has a base for plugins that show signs', function()
  local nvim = after_loop({ ['a.txt'] = ten }, [[ echo x >a.txt; echo y >new.txt ]])
  local function base(name)
    nvim:command('edit ' .. name)
    nvim:lua([[
      _G.got = nil
      require('ralph').base(0, function(text) _G.got = { text } end)
    ]])
    return nvim:wait('got')[1]
  end
  expect.equal(base('a.txt'), ten)
  expect.equal(base('new.txt'), '')
  expect.equal(base('/elsewhere.txt'), nil)
end)
