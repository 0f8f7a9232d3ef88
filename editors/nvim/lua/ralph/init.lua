--- Ralph loops in Neovim: the functions for configurations and other plugins.
local M = {}

--- Sets vim.g.ralph; nothing needs this to be called.
---@param options? ralph.Config
function M.setup(options)
  vim.g.ralph = options or vim.empty_dict()
end

--- Starts a loop. Returns at once; callback gets (err, result).
---@param options? ralph.StartOptions
---@param callback? ralph.Callback
function M.start(options, callback)
  require('ralph.loops').start(options, callback)
end

--- Starts a loop of one run.
---@param options? ralph.StartOptions
---@param callback? ralph.Callback
function M.once(options, callback)
  require('ralph.loops').once(options, callback)
end

--- Ends a folder's loop; the callback comes when everything of it is gone.
---@param folder? string default: the current one, here and below
---@param callback? ralph.Callback
function M.cancel(folder, callback)
  require('ralph.loops').cancel(folder, callback)
end

--- Lets the running iteration finish and starts no other.
---@param folder? string
---@param callback? ralph.Callback
function M.pause(folder, callback)
  require('ralph.loops').pause(folder, callback)
end

--- Lets a loop go on.
---@param folder? string
---@param callback? ralph.Callback
function M.resume(folder, callback)
  require('ralph.loops').resume(folder, nil, callback)
end

--- Tells the next run something.
---@param text string
---@param folder? string
---@param callback? ralph.Callback
function M.steer(text, folder, callback)
  require('ralph.loops').steer(text, folder, callback)
end

--- Shows the output of a folder's loop.
---@param folder? string
function M.output(folder)
  require('ralph.output').open(require('ralph.config').folder(folder))
end

--- The files that a folder's loop touched.
---@param folder? string
---@return ralph.TouchedFile[]
function M.files(folder)
  return require('ralph.files').list(require('ralph.config').folder(folder))
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
