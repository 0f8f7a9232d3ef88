--- What starts the sidecar without a command of the user's.
local binary = require('ralph.binary')
local client = require('ralph.client')
local config = require('ralph.config')

local M = {}

--- Starts the sidecar in the current folder; a missing one is no news here.
---@param callback? fun(err: ralph.Error?)
local function start(callback)
  if binary.sidecar() then
    client.start(config.folder(), callback)
  end
end

--- A folder with a state file was entered.
function M.folder()
  if config.get().autostart then
    start()
  end
end

--- A prompt, state or configuration file was opened.
---@param buf integer
function M.document(buf)
  if not config.get().documents then
    return
  end
  start(function()
    if vim.api.nvim_buf_is_valid(buf) then
      client.attach(buf)
    end
  end)
end

return M
