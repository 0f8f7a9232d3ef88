--- The decisions that are the user's.
local config = require('ralph.config')
local idle = require('ralph.idle')
local notify = require('ralph.notify')
local wire = require('ralph.wire')

local M = {}

--- Lets the user choose. Each choice is { label, what it does }; to choose none
--- does nothing. The safe one stands first: pickers choose it when the user only
--- presses Return.
---@param prompt string
---@param choices { [1]: string, [2]: fun() }[]
---@param safe? string what the one that does nothing is called
function M.choose(prompt, choices, safe)
  require('ralph.status').show() -- Neovim's own picker holds the screen
  vim.cmd.redraw()
  vim.ui.select({ { safe or 'Leave it' }, unpack(choices) }, {
    prompt = prompt,
    kind = 'ralph',
    format_item = function(choice)
      return choice[1]
    end,
  }, function(choice)
    if choice and choice[2] then
      choice[2]()
    end
  end)
end

--- What the sidecar offers, as choices.
---@param folder string
---@param offers ralph.Command[]
---@param callback? ralph.Callback
---@param handle? table<string, fun(err: ralph.Error)>
local function choices_of(folder, offers, callback, handle)
  return vim.tbl_map(function(offer)
    return {
      offer.title,
      function()
        local argument = vim.deepcopy((offer.arguments or {})[1] or {})
        require('ralph.loops').run(folder, offer.command, argument, callback, handle)
      end,
    }
  end, offers)
end

--- Lets the user choose one of the sidecar's offers.
---@param prompt string
---@param folder string
---@param offers ralph.Command[]
function M.offer(prompt, folder, offers)
  M.choose(prompt, choices_of(folder, offers))
end

--- A command couldn't be done, but something else can. The question names the loop where
--- there are several.
---@param folder string
---@param err ralph.Error
---@param callback? ralph.Callback of the command
---@param handle? table<string, fun(err: ralph.Error)> its other errors
function M.instead(folder, err, callback, handle)
  local status = require('ralph.status')
  local name, question = status.name(status.in_folder(folder)), err.data.question or err.message
  if name ~= 'Ralph' then
    question = name .. ': ' .. question
  end
  M.choose(question, choices_of(folder, err.data.offers, callback, handle))
end

---@type table<string, true> folders whose loop is about to be resumed
local resuming = {}

--- Something can be done about a loop that is over.
---@param loop ralph.Loop
function M.about(loop)
  local folder = wire.folder(loop)
  local choices = choices_of(folder, loop.offers)
  if loop.state == 'ended' and vim.list_contains(loop.can or {}, 'resume') then
    table.insert(choices, {
      'Go on with another limit',
      function()
        local prompt = 'Ralph, the limit (80, +10, --max-cost=5): '
        vim.ui.input({ prompt = prompt }, function(text)
          if text and text ~= '' then
            require('ralph.loops').resume(folder, text)
          end
        end)
      end,
    })
  end
  local why = loop.error and (' (%s)'):format(loop.error) or ''
  local name = require('ralph.status').name(loop)
  M.choose(('%s: %s%s'):format(name, loop.text, why), choices)
end

--- A loop was found that is over, and something can be done about it.
---@param loop ralph.Loop
function M.over(loop)
  if resuming[wire.folder(loop)] or loop.state == 'ended' and config.get().notify == 'never' then
    return
  end
  idle.run(function()
    local now = require('ralph.status').by_id(loop.loopId)
    if now and now.state == loop.state then
      M.about(now)
    end
  end)
end

--- Something can be done about what an update says of a loop that runs.
---@param source ralph.Source
---@param update ralph.Update
function M.offered(source, update)
  if not update.offers or config.get().notify == 'never' then
    return
  end
  idle.run(function()
    local status = require('ralph.status')
    local loop = status.by_id(source.loopId) -- that of one that has just begun may come later
    if not loop or loop.live then
      M.offer(status.name(loop) .. ', ' .. update.text, source.folder, update.offers)
    end
  end)
end

--- The sidecar ended by itself.
---@param code integer
---@param signal integer
---@param loops ralph.Loop[] what it drove
function M.crashed(code, signal, loops)
  local folders = vim.tbl_map(wire.folder, loops)
  local function restart(callback)
    return function()
      require('ralph.client').restart(function(err)
        if err then
          return notify.error(err.message)
        end
        callback()
      end)
    end
  end
  local choices = { { 'Restart it', restart(function() end) } }
  if #loops > 0 then
    table.insert(choices, 1, {
      'Restart it and resume',
      restart(function()
        for _, folder in ipairs(folders) do
          resuming[folder] = true
          require('ralph.loops').resume(folder, nil, function()
            resuming[folder] = nil
          end)
        end
      end),
    })
  end
  local how = signal ~= 0 and ('signal %d'):format(signal) or ('exit code %d'):format(code)
  idle.run(function()
    M.choose(('The Ralph sidecar stopped (%s); see :Ralph log.'):format(how), choices)
  end)
end

return M
