--- User autocommands for what loops do.
local wire = require('ralph.wire')

local M = {}

local kinds = wire.updates

--- Where an update comes from.
---@class ralph.Source
---@field loopId string
---@field folder string path
---@field iteration? integer

--- Runs the autocommands of an event. Its data are the source's and more.
---@param name string without "Ralph"
---@param source { loopId?: string, folder: string, iteration?: integer }
---@param more? table
function M.fire(name, source, more)
  local data = vim.tbl_extend('force', {
    loopId = source.loopId,
    folder = source.folder,
    iteration = source.iteration,
  }, more or {})
  vim.api.nvim_exec_autocmds('User', { pattern = 'Ralph' .. name, modeline = false, data = data })
end

---@type table<string, number> what each loop cost when it was told last
local told_costs = {}

---@param source ralph.Source
---@param update ralph.Update
local function tell_cost(source, update)
  local cost = update.cost
  if cost and cost.amount ~= told_costs[source.loopId] then
    told_costs[source.loopId] = cost.amount
    M.fire('Cost', source, { amount = cost.amount, currency = cost.currency })
  end
end

---@param update ralph.Update
---@return table
local function without_kind(update)
  local data = vim.tbl_extend('force', {}, update)
  data.sessionUpdate = nil
  return data
end

--- Tells an update. Pieces of text have no event: there are too many of them.
---@param source ralph.Source
---@param update ralph.Update
function M.update(source, update)
  local kind = update.sessionUpdate
  if kind == kinds.tool_call then
    M.fire('Tool', source, without_kind(update))
  elseif kind == kinds.tool_call_update and update.status ~= 'in_progress' then
    M.fire('Tool', source, without_kind(update))
  elseif kind == kinds.iteration then
    M.fire('Iteration', source, without_kind(update))
  elseif kind == kinds.usage then
    tell_cost(source, update)
  elseif kind == kinds.ending then
    M.fire('Ended', source, without_kind(update))
  end
end

return M
