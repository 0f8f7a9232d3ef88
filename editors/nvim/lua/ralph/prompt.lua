--- Where a prompt comes from that isn't in the command.
local config = require('ralph.config')
local notify = require('ralph.notify')

local M = {}

--- The text of a range of lines, or of what is selected in them.
---@param first integer
---@param last integer
---@param selected boolean the range was made from the selection
---@return string
function M.lines(first, last, selected)
  local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  local mode = vim.fn.visualmode()
  if selected and mode ~= 'V' and from[2] == first and to[2] == last then
    return table.concat(vim.fn.getregion(from, to, { type = mode }), '\n')
  end
  return table.concat(vim.api.nvim_buf_get_lines(0, first - 1, last, false), '\n')
end

--- Lines in a fence that none of them ends.
---@param lines string[]
---@param language? string
---@return string
function M.fenced(lines, language)
  local body, fence = table.concat(lines, '\n'), '```'
  while body:find(fence, 1, true) do
    fence = fence .. '`'
  end
  return table.concat({ fence .. (language or ''), body, fence }, '\n')
end

local max_lines = 60 -- of a place; of more the agent reads the file

--- Lines of the current buffer as an agent is told of them: the path, as the loop's folder has
--- it, their numbers, and the lines.
---@param folder string
---@param first integer
---@param last integer
---@param text string of these lines
---@return string
function M.place(folder, first, last, text)
  local name = vim.api.nvim_buf_get_name(0)
  local path = name == '' and '' or require('ralph.changes').relative(folder, name)
  local numbers = first == last and 'line ' .. first or ('lines %d-%d'):format(first, last)
  local lines = vim.split(text, '\n', { plain = true })
  if #lines > max_lines then
    lines = vim.list_slice(lines, 1, max_lines)
    table.insert(lines, '…')
  end
  local head = (path == '' and numbers or path .. ', ' .. numbers) .. ':'
  return head .. '\n' .. M.fenced(lines)
end

--- The prompt file of a folder, if there is one.
---@param folder string
---@return string?
function M.file(folder)
  local path = vim.fs.joinpath(folder, config.get().prompt_file)
  return vim.uv.fs_stat(path) and path or nil
end

--- A start came without a prompt: takes the prompt file, or lets one be written.
---@param options ralph.StartOptions
---@param err ralph.Error
---@param callback? ralph.Callback
function M.missing(options, err, callback)
  local file = M.file(options.folder)
  if options.prompt_file or options.prompt and options.prompt ~= '' then
    return notify.error(err.message) -- there was one, and it is empty
  end
  if file then
    options = vim.tbl_extend('force', options, { prompt_file = file })
    return require('ralph.loops').start(options, callback)
  end
  require('ralph.box').open(options, callback)
end

return M
