--- Where the last check of a loop failed.
local client = require('ralph.client')
local notify = require('ralph.notify')
local wire = require('ralph.wire')

local M = {}

---@class ralph.Problem
---@field path string relative to the folder, else as it was printed
---@field line? integer
---@field column? integer
---@field message string

--- Reads the last check of a folder's loop that is over, page by page.
---@param folder string
---@param callback fun(check: table?)
---@param after? string where to go on
---@param last? table the last one until there
local function read(folder, callback, after, last)
  local argument = { folder = vim.uri_from_fname(folder), after = after }
  client.execute(folder, wire.commands.read, argument, function(err, page)
    if err then
      return notify.error(err.message)
    end
    for _, update in ipairs(page.updates) do
      if update.sessionUpdate == wire.updates.verify and update.state ~= 'running' then
        last = update
      end
    end
    if page.more then
      return read(folder, callback, page.cursor, last)
    end
    callback(last)
  end)
end

--- Fills the quickfix list with the places where the last check of a folder's loop
--- failed, also of one that is over, and opens it.
---@param folder string
function M.quickfix(folder)
  read(folder, function(check)
    if not check then
      return notify.info('nothing was verified here')
    end
    local items = {}
    for _, problem in ipairs(check.problems or {}) do
      local path = problem.path:find('^/') and problem.path or vim.fs.joinpath(folder, problem.path)
      local is_there = vim.uv.fs_stat(path) ~= nil
      table.insert(items, {
        filename = is_there and path or nil,
        lnum = problem.line,
        col = problem.column,
        type = 'E',
        text = is_there and problem.message or problem.path .. ': ' .. problem.message,
      })
    end
    if #items == 0 then
      return notify.info(check.text or 'the check names no places')
    end
    require('ralph.show').quickfix('Ralph: ' .. check.text, items)
  end)
end

--- What is said behind an update, so that the user knows where to look.
---@param update ralph.Update
---@return string?
function M.hint(update)
  return update.problems and #update.problems > 0 and ' (:Ralph problems)' or nil
end

return M
