--- The sidecar's log file.
local config = require('ralph.config')

local M = {}

local max_size = 5 * 1024 * 1024 -- bytes, before a new one is begun

--- The log file's path; nil when there is none.
---@return string?
function M.path()
  return config.get().log or nil
end

--- Makes room for a new log when the old one is long. One old log is kept.
function M.rotate()
  local path = M.path()
  if not path then
    return
  end
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local stat = vim.uv.fs_stat(path)
  if stat and stat.size > max_size then
    vim.uv.fs_rename(path, path .. '.1')
  end
end

--- Opens the log at its end.
function M.open()
  local path = M.path()
  if not path then
    require('ralph.notify').warn('the log is switched off (log = false in vim.g.ralph)')
    return
  end
  vim.cmd.tabedit(vim.fn.fnameescape(path))
  vim.bo.autoread = true
  vim.cmd.normal({ 'G', bang = true })
end

return M
