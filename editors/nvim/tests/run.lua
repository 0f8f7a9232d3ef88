-- Runs the specs: nvim --clean --headless -l tests/run.lua [PATTERN]
-- A spec file calls it(NAME, FUNCTION). The environment has RALPH_BIN, the
-- sidecar, and RALPH_AGENTS, the folder
-- with the stand-in agent. Quiet on success.
local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p'))
package.path = here .. '/?.lua;' .. package.path
vim.opt.runtimepath:prepend(vim.fs.dirname(here))

local specs = vim.fn.glob(here .. '/*_spec.lua', false, true)
assert(#specs > 0, 'no specs in ' .. here)

local pattern = _G.arg[1] or ''
local ran, failures = 0, {}

for _, spec in ipairs(specs) do
  local file = vim.fs.basename(spec)
  _G.it = function(name, test)
    local full = file:gsub('_spec%.lua$', '') .. ': ' .. name
    if not full:find(pattern) then
      return
    end
    ran = ran + 1
    local started = vim.uv.hrtime()
    local ok, problem = xpcall(test, debug.traceback)
    local clean, dirt = pcall(require('child').end_all)
    if ok and not clean then
      ok, problem = false, dirt
    end
    local seconds = (vim.uv.hrtime() - started) / 1e9
    if vim.env.RALPH_VERBOSE then
      io.write(('%s %5.2fs %s\n'):format(ok and 'ok  ' or 'FAIL', seconds, full))
    end
    if not ok then
      table.insert(failures, full .. '\n' .. problem)
    end
  end
  dofile(spec)
end

local version = tostring(vim.version())
for _, failure in ipairs(failures) do
  io.write(('FAIL in Neovim %s: %s\n\n'):format(version, failure))
end
-- What make ci says at its very end: which test, what it said, how to run it alone.
local fell = vim.env.RALPH_TEST_FELL and #failures > 0 and io.open(vim.env.RALPH_TEST_FELL, 'a')
for _, failure in ipairs(fell and failures or {}) do
  local lines = vim.split((failure:gsub('\nstack traceback.*', '')), '\n')
  local name = table.remove(lines, 1)
  fell:write(('*** FAILED: %s, in Neovim %s\n'):format(name, version))
  for line in vim.iter(lines):take(6) do
    fell:write(('    %s\n'):format(vim.trim(line):sub(1, 300)))
  end
  fell:write(
    ("    alone: editors/nvim/tests/all.sh '^%s$'\n"):format((vim.pesc(name):gsub("'", "'\\''")))
  )
end
if ran == 0 then
  io.write(('no test has "%s" in its name\n'):format(pattern))
end
if vim.env.RALPH_VERBOSE then
  io.write(('Neovim %s: %d tests, %d failed\n'):format(version, ran, #failures))
end
os.exit(#failures == 0 and ran > 0 and 0 or 1)
