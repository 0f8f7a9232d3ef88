local child = require('child')
local expect = require('expect')
local it = _G.it

--- A language server in the child, for text: each line with "error" is one. It says
--- what it finds after a while, and of which version only if it is to.
local server = [[
  local options = ...
  _G.opened = {}
  local function find(text)
    local found = {}
    for number, line in ipairs(vim.split(text, '\n')) do
      if line:find('error') then
        local at = { line = number - 1, character = 0 }
        local range = { start = at, ['end'] = at }
        table.insert(found, { range = range, severity = 1, source = 'fake', message = line })
      end
    end
    return found
  end
  local function connect(dispatchers)
    local stopped = false
    local function look(document, text)
      if options.silent then return end
      vim.defer_fn(function()
        dispatchers.notification('textDocument/publishDiagnostics', {
          uri = document.uri,
          version = options.versions and document.version or nil,
          diagnostics = find(text),
        })
      end, options.delay or 10)
    end
    return {
      request = function(method, _, callback)
        vim.schedule(function()
          callback(nil, method == 'initialize' and { capabilities = { textDocumentSync = 1 } } or {})
        end)
        return true, 1
      end,
      notify = function(method, params)
        if method == 'textDocument/didOpen' then
          table.insert(opened, params.textDocument.uri)
          look(params.textDocument, params.textDocument.text)
        elseif method == 'textDocument/didChange' then
          look(params.textDocument, params.contentChanges[1].text)
        end
        return true
      end,
      is_closing = function() return stopped end,
      terminate = function() stopped = true end,
    }
  end
  vim.api.nvim_create_autocmd('FileType', { pattern = 'text', callback = function()
    vim.lsp.start({ name = 'fake', cmd = connect, root_dir = vim.fn.getcwd() })
  end })
  local diagnostics = require('ralph.diagnostics')
  diagnostics.quiet, diagnostics.limit = options.quiet or 300, options.limit or diagnostics.limit
]]

--- A Neovim with that server, in whose folder loops pass the diagnostics. The agent
--- runs scripts, one in each iteration.
local function start(options, ...)
  local home, dir = child.folder(), child.folder()
  vim.fn.mkdir(home .. '/config/ralph-lsp', 'p')
  child.write(home .. '/config/ralph-lsp/config.toml', '[verify]\ndiagnostics = "no_new_errors"\n')
  child.write(dir .. '/shop.txt', 'one\nold error\nthree\n')
  for number, script in ipairs({ ... }) do
    child.write(('%s/%d.sh'):format(dir, number), script)
  end
  local nvim = child.start({ dir = dir, home = home, env = { XDG_STATE_HOME = home .. '/state' } })
  if options then
    nvim:lua(server, options)
  end
  return nvim
end

local run = [[Ralph start --max-iterations=5 --completion-promise=DONE 'agent: shell 1']]

--- The names of the buffers with a file.
local buffers = [[vim.iter(vim.api.nvim_list_bufs()):map(function(buf)
  return vim.fs.basename(vim.api.nvim_buf_get_name(buf))
end):filter(function(name) return name:find('%.txt$') end):totable()]]

local function said(nvim)
  nvim:command('Ralph output')
  return nvim:text()
end

it('refutes a promise by a new error, and by no old one', function()
  for _, options in ipairs({ {}, { versions = true }, { delay = 900 } }) do
    local nvim = start(
      options,
      "echo 'new error' >>shop.txt; echo fine >other.txt",
      "sed -i -e /new/d -e 's/^one/zero/' shop.txt"
    )
    nvim:command('edit shop.txt')
    nvim:wait('#vim.diagnostic.get(0) == 1')
    nvim:command(run)
    nvim:wait_event('RalphEnded', { stopReason = 'promise', iterations = 2 })
    expect.contains(said(nvim), 'show 1 new error: shop.txt:4:1: new error')
    expect.contains(said(nvim), 'show no new error in 2 files')
    expect.contains(vim.inspect(nvim:lua('return opened')), 'other.txt')
    local left = nvim:lua('return ' .. buffers)
    expect.equal(left, { 'shop.txt' })
    nvim:command('Ralph problems')
    nvim:wait([[#notes > 0]])
  end
end)

it('knows errors of files that it opens itself', function()
  local nvim = start({}, "echo 'my error' >mine.txt", 'rm mine.txt; echo fine >>shop.txt')
  nvim:command(run)
  nvim:wait([[(require('ralph.status').get().loops[1] or {}).state == 'paused']])
  local text = said(nvim)
  expect.contains(text, 'show 1 new error: mine.txt:1:1: my error')
  expect.contains(text, 'nobody had looked at the file before: shop.txt:2:1: old error')
end)

it('never counts what nobody knows', function()
  local change = 'echo more >>shop.txt'
  for why, options in pairs({
    ["isn't done with shop.txt"] = { silent = true, limit = 1000 },
    ["the language server isn't done with"] = { delay = 3000, limit = 1000 },
    ['no language server looked at shop.txt'] = false,
  }) do
    local nvim = start(options, change)
    nvim:command(run)
    nvim:wait([[(require('ralph.status').get().loops[1] or {}).state == 'paused']])
    expect.contains(said(nvim), why)
  end
end)

it('leaves what the user has not saved', function()
  local nvim = start({}, 'echo more >>shop.txt')
  nvim:command('edit shop.txt')
  nvim:wait('#vim.diagnostic.get(0) == 1')
  nvim:lua([[vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'mine' })]])
  nvim:command('let b:mine = 1')
  nvim:command(run)
  nvim:wait([[(require('ralph.status').get().loops[1] or {}).state == 'paused']])
  expect.contains(said(nvim), "shop.txt has changes in the editor that aren't saved")
  expect.equal(nvim:lua([[return vim.fn.getbufline('shop.txt', 1)]]), { 'mine' })
end)
