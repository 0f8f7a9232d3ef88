--- Ralph loops in Neovim: the functions for configurations and other plugins.
local M = {}

---@param folder? string as the caller wrote it
---@return string path
local function path_of(folder)
  return require('ralph.config').written_folder(folder)
end

---@param options? ralph.StartOptions
---@return ralph.StartOptions
local function with_path(options)
  return vim.tbl_extend('force', options or {}, { folder = path_of((options or {}).folder) })
end

--- Sets vim.g.ralph; nothing needs this to be called.
---@param options? ralph.Config
function M.setup(options)
  vim.g.ralph = options or vim.empty_dict()
end

--- Starts a loop. Returns at once; callback gets (err, result).
---@param options? ralph.StartOptions
---@param callback? ralph.Callback
function M.start(options, callback)
  require('ralph.loops').start(with_path(options), callback)
end

--- Starts a loop of one run.
---@param options? ralph.StartOptions
---@param callback? ralph.Callback
function M.once(options, callback)
  require('ralph.loops').once(with_path(options), callback)
end

--- Ends a folder's loop; the callback comes when everything of it is gone.
---@param folder? string default: the current one, here and below
---@param callback? ralph.Callback
function M.cancel(folder, callback)
  require('ralph.loops').cancel(path_of(folder), callback)
end

--- Lets the running iteration finish and starts no other.
---@param folder? string
---@param callback? ralph.Callback
function M.pause(folder, callback)
  require('ralph.loops').pause(path_of(folder), callback)
end

--- Ends the running iteration; the next one begins.
---@param folder? string
---@param callback? ralph.Callback
function M.next(folder, callback)
  require('ralph.loops').next(path_of(folder), callback)
end

--- Lets a loop go on without this Neovim.
---@param folder? string
---@param callback? ralph.Callback
function M.detach(folder, callback)
  require('ralph.loops').detach(path_of(folder), callback)
end

--- Lets a loop go on.
---@param folder? string
---@param callback? ralph.Callback
function M.resume(folder, callback)
  require('ralph.loops').resume(path_of(folder), nil, callback)
end

--- Tells a loop something: the running agent where it is live, else the next run.
---@param text string
---@param folder? string
---@param callback? ralph.Callback
function M.steer(text, folder, callback)
  require('ralph.loops').steer(text, path_of(folder), callback)
end

--- Shows the output of a folder's loop.
---@param folder? string
function M.output(folder)
  require('ralph.output').open(path_of(folder))
end

--- The text that a buffer's file had before the loop, or as the user kept it last:
--- "" where there was no file. The callback gets nil for one that isn't text, or
--- that no loop's snapshots have.
---@param buf integer 0: the current one
---@param callback fun(text: string?)
function M.base(buf, callback)
  local folder, changes = path_of(), require('ralph.changes')
  local path = changes.relative(folder, vim.api.nvim_buf_get_name(buf))
  changes.file(folder, { path = path }, function(_, text)
    callback(text)
  end)
end

--- How all loops stand, as the sidecar said last.
---@return ralph.Status
function M.status()
  return vim.deepcopy(require('ralph.status').get())
end

--- A cached text for status lines, "" when there is nothing to say.
---@return string
function M.statusline()
  return require('ralph.status').statusline()
end

return M
