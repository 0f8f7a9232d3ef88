--- The settings: defaults, what vim.g.ralph says, what is wrong with it.
local M = {}

---@type ralph.Config
M.defaults = {
  cmd = nil,
  fleet = {},
  flags = {},
  permissions = '',
  on_close = '',
  root = nil,
  prompt_file = 'PROMPT.md',
  notify = 'always',
  autostart = true,
  documents = true,
  log = vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'ralph-lsp.log'),
  output = {
    split = 'botright vsplit',
    max_lines = 20000,
    tool_lines = 12,
    thinking = false,
  },
  statusline = {
    prefix = 'Ralph',
    width = 48,
  },
}

---@param value any
---@return boolean
local function is_strings(value)
  return vim.islist(value)
    and vim.iter(value):all(function(item)
      return type(item) == 'string'
    end)
end

--- The rule of a value that is one of some words.
---@param text string how they are told
---@param words string[]
---@return table
local function one_of(text, words)
  return {
    text,
    function(v)
      return vim.list_contains(words, v)
    end,
  }
end

--- What a value must be: a Lua type, or a sentence with a test.
local rules = {
  cmd = {
    'a list of strings, the program first',
    function(v)
      return is_strings(v) and #v > 0
    end,
  },
  fleet = {
    bus = {
      'the URL of a bus, as in "nats://host:4222", without a secret (RALPH_TOKEN has that)',
      function(v)
        return type(v) == 'string' and v:match('^%a+://[^@%s]+$') ~= nil
      end,
    },
  },
  flags = { 'a list of strings', is_strings },
  permissions = one_of('"ask" or ""', { 'ask', '' }),
  on_close = one_of('"keep", "end" or ""', { 'keep', 'end', '' }),
  root = { 'a function', vim.is_callable },
  prompt_file = 'string',
  notify = one_of('"always", "unfocused" or "never"', { 'always', 'unfocused', 'never' }),
  autostart = 'boolean',
  documents = 'boolean',
  log = {
    'a path or false',
    function(v)
      return v == false or type(v) == 'string' and v ~= ''
    end,
  },
  output = {
    split = 'string',
    max_lines = {
      'a number of at least 100',
      function(v)
        return type(v) == 'number' and v >= 100
      end,
    },
    tool_lines = 'number',
    thinking = 'boolean',
  },
  statusline = { prefix = 'string', width = 'number' },
}

--- The name in names that word is probably a typing error of.
---@param word string
---@param names string[]
---@return string?
local function nearest(word, names)
  local best = vim.fn.matchfuzzy(names, word)[1]
  if best then
    return best
  end
  for _, name in ipairs(names) do
    if name:sub(1, 2) == word:sub(1, 2) then
      return name
    end
  end
end

---@param key string
---@param value any
---@param rule table|string
---@return string? problem
local function check_value(key, value, rule)
  if type(rule) == 'string' then
    if type(value) ~= rule then
      return ('%s must be a %s, not %s'):format(key, rule, vim.inspect(value))
    end
  elseif not rule[2](value) then
    return ('%s must be %s, not %s'):format(key, rule[1], vim.inspect(value))
  end
end

--- Puts what is right of given over the defaults, and collects what is wrong.
---@param given table
---@param defaults table
---@param schema table
---@param prefix string
---@param problems string[]
---@return table
local function merge(given, defaults, schema, prefix, problems)
  local merged = vim.deepcopy(defaults)
  for key, value in pairs(given) do
    local rule = schema[key]
    local name = prefix .. tostring(key)
    if rule == nil then
      local near = nearest(tostring(key), vim.tbl_keys(schema))
      local hint = near and (', did you mean %s%s?'):format(prefix, near) or ''
      table.insert(problems, ('unknown key %s%s'):format(name, hint))
    elseif type(rule) == 'table' and rule[1] == nil then
      if type(value) == 'table' then
        merged[key] = merge(value, defaults[key], rule, name .. '.', problems)
      else
        table.insert(problems, ('%s must be a table, not %s'):format(name, vim.inspect(value)))
      end
    else
      local problem = check_value(name, value, rule)
      if problem then
        table.insert(problems, problem)
      else
        merged[key] = value
      end
    end
  end
  table.sort(problems)
  return merged
end

--- The settings in force, and what is wrong with vim.g.ralph. Wrong values
--- count as not given. Nothing is cached: the variable may change at any time.
---@return ralph.Config config
---@return string[] problems
function M.read()
  local given = vim.g.ralph
  local problems = {}
  if vim.is_callable(given) then
    local ok, result = pcall(given)
    if not ok then
      table.insert(problems, 'vim.g.ralph failed: ' .. tostring(result))
      result = nil
    end
    given = result
  end
  if given == nil or given == vim.NIL then
    given = {}
  end
  if type(given) ~= 'table' then
    table.insert(problems, 'vim.g.ralph must be a table or a function that returns one')
    given = {}
  end
  return merge(given, M.defaults, rules, '', problems), problems
end

--- The settings in force.
---@return ralph.Config
function M.get()
  return (M.read())
end

--- The path of a folder, as tables have it; without one, of that which commands
--- are about. A $ is a letter of its name.
---@param folder? string
---@return string path absolute, without a slash at its end
function M.folder(folder)
  local root = M.get().root
  folder = folder or root and root() or vim.fn.getcwd()
  local literal = { expand_env = false }
  return vim.fs.normalize(vim.fn.fnamemodify(vim.fs.normalize(folder, literal), ':p'), literal)
end

--- The path of a folder that a user wrote: variables in it are expanded.
---@param folder? string
---@return string path like that of M.folder
function M.written_folder(folder)
  return M.folder(folder and vim.fs.normalize(folder))
end

return M
