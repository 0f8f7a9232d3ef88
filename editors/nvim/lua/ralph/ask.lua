--- The decisions that are the user's.
local config = require('ralph.config')
local notify = require('ralph.notify')
local wire = require('ralph.wire')

local M = {}

--- Lets the user choose, as the answer to a command of theirs. Each choice is { label, what it
--- does }; to choose none does nothing. The safe one stands first: pickers choose it when the
--- user only presses Return. Who has typed meanwhile decides when they go there.
---@param prompt string
---@param choices { [1]: string, [2]: fun() }[]
---@param safe? string what the one that does nothing is called
function M.choose(prompt, choices, safe)
  local idle = require('ralph.idle')
  if idle.is_late() or not idle.is_idle() then
    return require('ralph.question').decide({
      id = prompt,
      folder = config.folder(),
      text = prompt,
      choices = choices,
      is_moot = function()
        return false
      end,
    })
  end
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

--- Lets the user type something; nothing comes of an empty line.
---@param prompt string
---@param act fun(text: string)
function M.text(prompt, act)
  vim.ui.input({ prompt = prompt }, function(text)
    if text and text ~= '' then
      act(text)
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
    local function act()
      local argument = vim.deepcopy((offer.arguments or {})[1] or {})
      require('ralph.loops').run(folder, offer.command, argument, callback, handle)
    end
    if offer.command ~= wire.commands.cancel then
      return { offer.title, act }
    end
    return {
      offer.title,
      function() -- a number is soon pressed, and this can't be taken back
        M.choose(offer.title .. '?', { { offer.title, act } })
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

---@param loop ralph.Loop that is over
---@return string
local function id_of(loop)
  return 'over ' .. (loop.loopId or loop.folder)
end

--- Something can be done about a loop that is over: lets the user decide.
---@param loop ralph.Loop
local function decide(loop)
  local folder = wire.folder(loop)
  local choices = choices_of(folder, loop.offers)
  if loop.state == 'ended' and vim.list_contains(loop.can or {}, 'resume') then
    table.insert(choices, {
      'Go on with another limit',
      function()
        local prompt = 'Ralph, the limit (80, +10, --max-cost=5): '
        M.text(prompt, function(text)
          require('ralph.loops').resume(folder, text)
        end)
      end,
    })
  end
  local status = require('ralph.status')
  require('ralph.question').decide({
    id = id_of(loop),
    folder = folder,
    name = status.name(loop),
    text = loop.text .. (loop.error and (' (%s)'):format(loop.error) or ''),
    choices = choices,
    is_moot = function()
      local now = loop.loopId and status.by_id(loop.loopId) or status.in_folder(folder)
      return not now or now.live or now.state ~= loop.state or now.endedAt ~= loop.endedAt
    end,
  })
end

--- The user wants to decide what is done about a loop that is over.
---@param loop ralph.Loop
function M.about(loop)
  decide(loop)
  require('ralph.question').enter(nil, id_of(loop))
end

--- A loop was found that is over, and something can be done about it.
---@param loop ralph.Loop
function M.over(loop)
  if loop.state == 'ended' and config.get().notify == 'never' then
    return
  end
  decide(loop)
end

--- Something can be done about what an update says of a loop that runs.
---@param source ralph.Source
---@param update ralph.Update
function M.offered(source, update)
  if not update.offers or config.get().notify == 'never' then
    return
  end
  local status = require('ralph.status')
  require('ralph.question').decide({
    id = ('offer %s %s'):format(source.loopId, update.text),
    folder = source.folder,
    name = status.name(status.by_id(source.loopId)),
    text = update.text,
    choices = choices_of(source.folder, update.offers),
    is_moot = function()
      local loop = status.by_id(source.loopId) -- that of one that has just begun may come later
      return loop ~= nil and not loop.live
    end,
  })
end

local calm = 30000 -- ms that a sidecar has to live to be started again by itself
local begun = -calm -- when one was, as vim.uv.now has it

--- The sidecar ended by itself. Its loops go on without it for a moment, so it is started again at
--- once; one that ends again is left to the user.
---@param code integer
---@param signal integer
---@param loops ralph.Loop[] what it drove
---@return boolean revived
function M.crashed(code, signal, loops)
  local client = require('ralph.client')
  local how = signal ~= 0 and ('signal %d'):format(signal) or ('exit code %d'):format(code)
  local folder = loops[1] and wire.folder(loops[1])
  if folder and vim.uv.now() - begun > calm then
    begun = vim.uv.now()
    client.start(folder, function(err)
      local words = err and err.message
        or ('the sidecar stopped (%s) and was started again; see :Ralph log'):format(how)
      notify.warn(words)
    end)
    return true
  end
  local function restart()
    client.restart(function(err)
      if err then
        notify.error(err.message)
      end
    end)
  end
  require('ralph.question').decide({
    id = 'sidecar',
    folder = folder or config.folder(),
    name = 'Ralph',
    text = ('the sidecar stopped (%s); see :Ralph log'):format(how),
    choices = { { 'Restart it', restart } },
    is_moot = client.is_ready,
  })
  return false
end

return M
