-- What code lenses and code actions do is done as if it had been typed.
local child = require('child')
local expect = require('expect')
local it = _G.it

--- A Neovim with PROMPT.md open, whose lenses are there.
local function with_prompt(text, ralph)
  local dir = child.folder()
  child.write(dir .. '/PROMPT.md', text)
  local nvim = child.start({ dir = dir, ralph = ralph })
  nvim:command('edit PROMPT.md')
  nvim:wait('#vim.lsp.get_clients({ bufnr = 0 }) == 1')
  return nvim
end

--- Runs the lens of the first line that has a title.
local function run_lens(nvim, title)
  local named = nvim:lua([[return vim.fn.has('nvim-0.12') == 1 and ' [ralph]' or '']])
  nvim:answer('[Cc]ode lens', title .. named)
  nvim:lua([[
    if vim.fn.has('nvim-0.12') == 1 then
      vim.lsp.codelens.enable(true, { bufnr = 0 })
    else
      vim.lsp.codelens.refresh({ bufnr = 0 })
    end
  ]])
  nvim:wait('#vim.lsp.codelens.get(vim.fn.has("nvim-0.12") == 1 and { bufnr = 0 } or 0) > 1')
  nvim:lua('vim.lsp.codelens.run()')
end

it('starts with the flags of the settings from a lens', function()
  local flags = { '--backend=pi', '--max-iterations=3', '--completion-promise=DONE' }
  local nvim = with_prompt('agent: promise 2\n', { flags = flags })
  run_lens(nvim, 'Run Ralph loop')
  nvim:wait_note('the loop runs; :Ralph output shows it')
  nvim:wait([[require('ralph').statusline():find('/3 ')]])
  nvim:wait_event('RalphEnded', { stopReason = 'promise', iterations = 2 })
end)

it('starts with the flags of the settings from a code action', function()
  local nvim = with_prompt('Tidy up\nagent: hang\n', { flags = { '--backend=pi', '--max-cost=3' } })
  nvim:answer('[Cc]ode action', 'Run Ralph loop with the selection')
  nvim:type('jV')
  nvim:wait([[vim.api.nvim_get_mode().mode == 'V']])
  nvim:lua([[vim.lsp.buf.code_action()]])
  nvim:wait_file('tool.pid')
  nvim:wait([[vim.list_contains(require('ralph').status().loops[1].limitTexts, '$3.00')]])
  nvim:command('Ralph cancel')
  nvim:wait_event('RalphEnded')
end)

it('says what came of a lens, and what went wrong', function()
  local nvim = with_prompt('agent: hang\n', { flags = { '--bakend=pi' } })
  run_lens(nvim, 'Run Ralph loop')
  expect.equal(nvim:wait_note('did you mean %-%-backend').level, vim.log.levels.ERROR)
end)

it('shows what a dry run would do', function()
  local nvim =
    with_prompt('Mend it\n', { flags = { '--backend=pi', '--max-iterations=3', '--max-cost=2.5' } })
  run_lens(nvim, 'Dry run')
  nvim:wait([[vim.api.nvim_win_get_config(0).relative == 'editor']])
  local text = nvim:text()
  expect.matches(text, '^pi .*3 iterations.*%$2%.50')
  expect.matches(text, '\nPermissions +%S')
  expect.equal(nvim:lua('return notes'), {})
  expect.equal(nvim:lua([[return #require('ralph').status().loops]]), 0)
end)

it('has the agent of each start ask, or says why it can not', function()
  local nvim = with_prompt('Mend it\n', { permissions = 'ask' })
  run_lens(nvim, 'Dry run')
  nvim:wait([[vim.api.nvim_win_get_config(0).relative == 'editor']])
  expect.contains(nvim:text(), "! pi can't ask you before version")
  nvim:command('close')
  run_lens(nvim, 'Run Ralph loop')
  nvim:wait_note("pi can't ask you before version")
  nvim:lua('_G.notes = {}')
  nvim:command('Ralph start Mend it')
  nvim:wait_note("pi can't ask you before version")
  nvim:command('Ralph start --permissions=agent --max-iterations=1 Mend it')
  nvim:wait_event('RalphEnded')
end)

it('runs one task from a plan, and changes a box so that it can be undone', function()
  local dir = child.folder()
  child.write(dir .. '/PLAN.md', '- [ ] first (verify: true)\n- [ ] second (verify: true)\n')
  child.write(dir .. '/README.md', '- [ ] not a task of ours\n')
  local nvim = child.start({ dir = dir, ralph = { flags = { '--backend=pi' } } })
  nvim:command('Ralph start --plan PLAN.md --task 1')
  nvim:wait_event('RalphEnded', { stopReason = 'promise' })
  nvim:command('edit README.md')
  expect.equal(nvim:lua('return #vim.lsp.get_clients({ bufnr = 0 })'), 1)
  nvim:command('edit PLAN.md')
  nvim:wait('#vim.lsp.get_clients({ bufnr = 0 }) == 1')
  nvim:command('normal! G')
  run_lens(nvim, 'Run this')
  nvim:wait([[vim.api.nvim_buf_get_lines(0, 1, 2, false)[1] == '- [x] second (verify: true)']])
  run_lens(nvim, 'Open again')
  nvim:wait([[vim.api.nvim_buf_get_lines(0, 1, 2, false)[1] == '- [ ] second (verify: true)']])
  nvim:command('undo')
  expect.equal(nvim:text(), '- [x] first (verify: true)\n- [x] second (verify: true)')
end)
