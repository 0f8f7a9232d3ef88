-- The overview of all loops.
local child = require('child')
local expect = require('expect')
local it = _G.it

--- A Neovim with a loop in each of some folders, by their names, and the overview.
local function with_loops(prompts)
  local base = child.folder()
  local nvim = child.start({ ralph = { notify = 'never' } })
  for name, text in pairs(prompts) do
    vim.fn.mkdir(base .. '/' .. name)
    nvim:lua(
      [[require('ralph').start({ folder = ..., text = select(2, ...) })]],
      base .. '/' .. name,
      text
    )
  end
  nvim:wait([[#require('ralph').status().loops == want]], vim.tbl_count(prompts))
  nvim:command('Ralph')
  return nvim, base
end

local hang = "--max-iterations=4 'agent: hang'"

it('shows all loops, and opens what is chosen', function()
  local nvim, base =
    with_loops({ one = hang, two = "--completion-promise=DONE 'agent: promise 1'" })
  nvim:wait(
    [[vim.fn.search('▸ agent: hang  .*1/4 · .* · bash sleep 900 · \\d\\+s', 'nw') > 0]]
  )
  nvim:wait([[vim.fn.search('▸ agent: promise 1  .*done · ', 'nw') > 0]])
  expect.contains(nvim:text(), base .. '/two')
  nvim:lua([[vim.fn.search('▸ agent: promise', 'w')]])
  nvim:type('<Tab>')
  nvim:wait(
    [[vim.fn.search('▾ agent: promise', 'nw') > 0 and vim.fn.search('    Agent  \\+pi', 'nw') > 0]]
  )
  nvim:type('<Tab>')
  nvim:wait([[vim.fn.search('Agent', 'nw') == 0]])
  nvim:type('<CR>')
  nvim:wait([[vim.api.nvim_buf_get_name(0) == 'ralph://' .. want]], base .. '/two')
end)

it('shows all that is known of a loop in a narrow window', function()
  local nvim = with_loops({ one = hang })
  nvim:wait([[vim.fn.search('hang .*bash sleep 900', 'w') > 0]])
  nvim:command('vsplit | vertical resize 40')
  nvim:type('<Tab>')
  nvim:wait([[vim.fn.search('    Limits  \\+4 iterations', 'w') > 0]])
  local at, rest = nvim:wrapped('4 iter')
  expect.equal(rest, at) -- lines go on behind the label
end)

it('stays at its loop and column while lines come and go', function()
  local nvim, base = with_loops({ one = hang, two = hang })
  nvim:wait([[vim.fn.search('(two) .*bash sleep 900', 'nw') > 0]])
  nvim:lua([[vim.fn.search('(two)', 'w')]])
  local before = nvim:lua([[return vim.fn.getline('.')]])
  local column = nvim:lua([[return vim.fn.col('.')]])
  nvim:wait([[vim.fn.getline('.') ~= want]], before) -- the clock
  expect.equal(nvim:lua([[return vim.fn.col('.')]]), column)
  vim.fn.mkdir(base .. '/zero')
  nvim:lua([[require('ralph').start({ folder = ..., prompt = 'agent: hang' })]], base .. '/zero')
  nvim:wait([[vim.api.nvim_buf_line_count(0) == 3]])
  expect.contains(nvim:lua([[return vim.fn.getline('.')]]), 'two')
  nvim:lua([[require('ralph').cancel(...)]], base .. '/one')
  nvim:wait([[vim.fn.search('(one) .*cancelled', 'nw') > 0]])
  expect.contains(nvim:lua([[return vim.fn.getline('.')]]), 'two')
  expect.equal(nvim:lua([[return vim.fn.col('.')]]), column)
end)

--- Makes a repository with a commit, by Ann.
local function repository(dir)
  vim.fn.mkdir(dir)
  vim.fn.writefile({ 'one' }, dir .. '/a')
  for _, args in ipairs({
    { 'init', '-q' },
    { 'config', 'user.name', 'Ann' },
    { 'config', 'user.email', 'ann@example.com' },
    { 'add', '-A' },
    { 'commit', '-qm', 'first' },
  }) do
    local done = vim.system(vim.list_extend({ 'git' }, args), { cwd = dir }):wait()
    expect.equal(done.code, 0)
  end
  return dir
end

local start_loop = [[require('ralph').start({ folder = ..., text = select(2, ...) })]]

it('has loops in worktrees below their repository, and opens their folders', function()
  local nvim, base = with_loops({})
  local app = repository(base .. '/app')
  nvim:lua(start_loop, app, "--worktree=feature/x --max-iterations=4 'agent: hang'")
  nvim:wait([[vim.fn.search('agent: hang', 'nw') > 0]])
  nvim:lua(start_loop, app, hang)
  nvim:wait([[vim.api.nvim_buf_line_count(0) == 2]])
  nvim:wait([[vim.fn.search('^▸ agent: hang (app)  ', 'nw') == 1]])
  nvim:wait([[vim.fn.search('agent: hang (app, featu', 'nw') == 2]])
  nvim:lua([[vim.fn.search('featu', 'w')]])
  nvim:type('o')
  nvim:wait(
    [[vim.uv.fs_realpath(vim.fn.getcwd()) == vim.uv.fs_realpath(want)]],
    app .. '.worktrees/feature-x'
  )
end)

it('lands what a loop did in its worktree, or discards it', function()
  local app = repository(child.folder() .. '/app')
  local nvim = child.start({ dir = app, ralph = { notify = 'always' } })
  local tree = app .. '.worktrees/feature-x'
  local promising = "--worktree=feature/x --completion-promise=DONE 'agent: promise 1'"
  nvim:answer('^Ralph: Discard feature/x.*1 uncommitted file', 'Discard Worktree')
  nvim:lua(start_loop, app, promising)
  nvim:decide('Ralph: done', 'Discard Worktree')
  nvim:wait_note('discarded feature/x')
  expect.equal(vim.uv.fs_stat(tree), nil)
  expect.equal(child.read(app .. '/work.txt'), nil)

  nvim:lua(start_loop, app, promising)
  nvim:asked('Ralph: done')
  expect.equal(
    nvim:lua([[return vim.fn.getcompletion('Ralph land --squash f', 'cmdline')]]),
    { 'feature/x' }
  )
  expect.equal(nvim:lua([[return vim.fn.getcompletion('Ralph land ', 'cmdline')[1] ]]), 'feature/x')
  nvim:decide('Ralph: done', 'Land')
  nvim:wait_note('landed 1 commit of feature/x on ')
  expect.equal(vim.uv.fs_stat(tree), nil)
  expect.equal(child.read(app .. '/work.txt'), 'iteration 1\n')
end)

it('names each agent at work once', function()
  local function render(line, titles)
    local agents = vim.tbl_map(function(title)
      return { title = title }
    end, titles)
    local loop =
      { title = 'app', folder = 'file:///app', line = line, class = 'info', agents = agents }
    return vim.tbl_map(function(one)
      return (one.text:gsub('  +/app$', ''))
    end, require('ralph.overview').render({ loop }, 80, {}))
  end
  local one = '1/4 · planner 2/3 · bash ls'
  expect.equal(render(one, { 'planner 2/3: Plan it' }), { '▸ app       ' .. one })
  expect.equal(
    render('1/4 · 2 agents', { 'scout: Find it', 'scout: Test it' }),
    { '▸ app       1/4 · 2 agents', '    scout: Find it', '    scout: Test it' }
  )
end)

it('acts on the loop at the cursor, and names it', function()
  local nvim, base = with_loops({ one = hang, two = hang })
  nvim:wait([[vim.fn.search('(two) .*bash sleep 900', 'w') > 0]])
  nvim:type('p')
  nvim:wait([[vim.fn.search('(two) .*pausing', 'nw') > 0]])
  nvim:answer('^Cancel agent: hang %(two%)?', 'Cancel it')
  nvim:type('c')
  nvim:wait_event('RalphEnded', { folder = base .. '/two', stopReason = 'cancelled' })
  nvim:wait([[vim.fn.search('(one) .*1/4', 'nw') > 0]])
end)

it('names the loop in a question where there are several', function()
  local nvim, base = with_loops({ one = hang, two = hang })
  nvim:answer('^Ralph "agent: hang %(two%)": Ralph loop active', 'Leave it')
  nvim:lua([[require('ralph').start({ folder = ..., prompt = 'other' })]], base .. '/two')
  nvim:wait('#answers == 0')
end)

it('names the loop in what is told where there are several', function()
  local base, nvim = child.folder(), child.start({ ralph = { notify = 'always' } })
  local function start(name, text)
    local folder = base .. '/' .. name
    vim.fn.mkdir(folder)
    nvim:lua([[require('ralph').start({ folder = ..., text = select(2, ...) })]], folder, text)
  end
  local promising = "--completion-promise=DONE 'agent: promise 1'"
  start('one', promising)
  nvim:wait_note('^Ralph done: DONE after')
  start('two', promising)
  nvim:wait_note('^Ralph "agent: promise 1 %(two%)": this loop is done when')
  nvim:wait_note('^Ralph "agent: promise 1 %(two%)" done: DONE after')
end)

it("lists the user's loops in other folders, and acts on them", function()
  local home = child.folder()
  local one, two = child.folder(), child.folder()
  local first = child.start({ dir = one, home = home })
  first:command('Ralph start --on-close=keep ' .. hang)
  first:wait([[(require('ralph').status().loops[1] or {}).tool]])
  first:quit()
  local nvim = child.start({ dir = two, home = home, ralph = { notify = 'never' } })
  nvim:command('Ralph')
  nvim:wait([[vim.fn.search('^In other folders:$', 'nw') > 0]])
  nvim:wait(
    [[vim.fn.search('^▸ agent: hang .*1/4 .* ' .. vim.fn.escape(want, '/.'), 'w') > 0]],
    one
  )
  nvim:type('<CR>')
  nvim:wait(
    [[vim.api.nvim_buf_get_name(0) == 'ralph://' .. want and vim.fn.search('sleep 900', 'nw') > 0]],
    one
  )
  nvim:command('Ralph')
  nvim:wait([[vim.fn.search('^In other', 'nw') == 0 and vim.fn.search('agent: hang', 'w') > 0]])
  nvim:answer('^Cancel agent: hang', 'Cancel it')
  nvim:type('c')
  nvim:wait_event('RalphEnded', { folder = one, stopReason = 'cancelled' })
end)

it('follows the loops in other folders', function()
  local home = child.folder()
  local first = child.start({ dir = child.folder(), home = home })
  local nvim = child.start({ dir = child.folder(), home = home, ralph = { notify = 'never' } })
  nvim:command('Ralph')
  nvim:wait([[vim.fn.search('^No loop is known', 'nw') > 0]])
  first:command('Ralph start ' .. hang)
  nvim:wait([[vim.fn.search('^In other folders:$', 'nw') > 0]])
  first:lua([[require('ralph').cancel()]])
  nvim:wait([[vim.fn.search('^In other folders:$', 'nw') == 0]])
end)

it('says that there is no loop, and starts one', function()
  local nvim = child.start()
  nvim:command('Ralph')
  expect.contains(nvim:text(), 'No loop is known')
  nvim:type('p')
  nvim:wait_note('there is no loop here')
  child.write(nvim.dir .. '/PROMPT.md', 'agent: hang\n')
  nvim:type('S')
  nvim:wait([[vim.fn.search('1/50', 'nw') > 0]])
  nvim:type('q')
  nvim:wait([[#vim.api.nvim_list_wins() == 1]])
  nvim:command('Ralph')
  nvim:wait([[vim.fn.search('bash sleep 900', 'nw') > 0]])
end)
