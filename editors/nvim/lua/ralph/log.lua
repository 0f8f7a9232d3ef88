--- The sidecar's log file.
local config = require('ralph.config')
local notify = require('ralph.notify')

local M = {}

local max_size = 5 * 1024 * 1024 -- bytes, before a new one is begun

---@type table<string, string> by the setting: the path that it meant when it was first asked for
local paths = {}

--- The log file's path; nil when there is none. A relative one stays where it is
--- when the working directory becomes another.
---@return string? absolute
function M.path()
  local log = config.get().log
  if not log then
    return nil
  end
  if not paths[log] then
    local is_written = log ~= config.defaults.log -- variables are expanded in what a user wrote
    paths[log] = vim.fn.fnamemodify(vim.fs.normalize(log, { expand_env = is_written }), ':p')
  end
  return paths[log]
end

---@param path string
---@return string? problem
local function prepare(path)
  local made, problem = pcall(vim.fn.mkdir, vim.fs.dirname(path), 'p')
  if not made then
    return tostring(problem)
  end
  local stat = vim.uv.fs_stat(path)
  if stat and stat.size > max_size then
    vim.uv.fs_rename(path, path .. '.1') -- one old log is kept
  end
  local file, failure = io.open(path, 'a')
  if not file then
    return failure
  end
  file:close()
end

--- The sidecar's flags for its log. None when it can't be written, which is said.
---@return string[]
function M.flags()
  local path = M.path()
  local problem = path and prepare(path)
  if problem then
    notify.warn(("the log %s can't be written (log in vim.g.ralph): %s"):format(path, problem))
  end
  return path and not problem and { '--log', path } or {}
end

--- Opens the log at its end.
function M.open()
  local path = M.path()
  if not path then
    return notify.warn('the log is switched off (log = false in vim.g.ralph)')
  elseif not vim.uv.fs_stat(path) then
    return notify.info('there is no log yet: ' .. path)
  end
  vim.cmd.tabedit(vim.fn.fnameescape(path))
  vim.bo.autoread = true
  vim.cmd.normal({ 'G', bang = true })
end

return M
