--- The decisions that are the user's.
local config = require('ralph.config')
local format = require('ralph.format')
local notify = require('ralph.notify')
local wire = require('ralph.wire')

local M = {}

--- Runs ask when the user isn't in the middle of typing. A question that comes
--- by itself must not swallow keys that are meant for something else.
---@param ask fun()
local function when_idle(ask)
  vim.schedule(function()
    if vim.api.nvim_get_mode().mode == 'n' then
      return ask()
    end
    vim.api.nvim_create_autocmd('ModeChanged', {
      pattern = '*:n',
      once = true,
      callback = function()
        when_idle(ask)
      end,
    })
  end)
end

--- Lets the user choose. Each choice is { label, what it does }; to choose none
--- does nothing, as does safe. It stands first: pickers choose the first one when
--- the user only presses Return.
---@param prompt string
---@param safe string
---@param choices { [1]: string, [2]: fun() }[]
local function choose(prompt, safe, choices)
  vim.ui.select({ { safe }, unpack(choices) }, {
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

---@param folder string
---@return string
local function name(folder)
  return vim.fs.basename(folder)
end

---@param options ralph.StartOptions
---@param callback? ralph.Callback
local function start_instead(options, callback)
  return function()
    require('ralph.loops').start(vim.tbl_extend('force', options, { replace = true }), callback)
  end
end

--- A file in the folder says what is to be run, and isn't trusted yet.
---@param err ralph.Error
---@param trust fun()
function M.untrusted(err, trust)
  choose(err.message, "Don't", { { 'Trust it and go on', trust } })
end

--- A prompt was written and is about to be left.
---@param leave fun()
function M.throw_away(leave)
  choose('Throw the prompt away?', 'Write on', { { 'Throw it away', leave } })
end

--- A start met a loop that is active. The sidecar has the question.
---@param options ralph.StartOptions
---@param err ralph.Error
---@param callback? ralph.Callback
function M.running(options, err, callback)
  choose(err.data.question, 'Keep it', {
    { 'Cancel it and start', start_instead(options, callback) },
  })
end

--- A start met a loop that nobody drives. The sidecar has the question.
---@param options ralph.StartOptions
---@param err ralph.Error
---@param callback? ralph.Callback
function M.left_behind(options, err, callback)
  choose(err.data.question, 'Leave it', {
    {
      'Continue it',
      function()
        require('ralph.loops').resume(options.folder, nil, callback)
      end,
    },
    { 'Discard it and start the new task', start_instead(options, callback) },
  })
end

---@type table<string, true> folders whose loop is about to be resumed
local resuming = {}

--- A loop was found that nobody drives.
---@param loop ralph.Loop
function M.left(loop)
  local folder = wire.folder(loop)
  if resuming[folder] then
    return
  end
  local function still_there()
    local now = require('ralph.status').in_folder(folder)
    return now and now.loopId == loop.loopId and now.state == loop.state
  end
  when_idle(function()
    if not still_there() then
      return
    end
    local why = loop.error and (' (%s)'):format(loop.error) or ''
    choose(
      ('Ralph in %s: %s%s. Go on with it?'):format(name(folder), format.loop(loop, 0, 0), why),
      'Later',
      {
        {
          'Continue it',
          function()
            require('ralph.loops').resume(folder)
          end,
        },
        {
          'Discard it',
          function()
            require('ralph.loops').cancel(folder)
          end,
        },
      }
    )
  end)
end

--- A limit doubled until it is above what is used: a loop can't go on below that.
---@param limit number? 0: none
---@param used number?
---@param default number for a limit that isn't known
---@return number
local function doubled(limit, used, default)
  local offer = limit and limit > 0 and limit or default
  repeat
    offer = 2 * offer
  until offer > (used or 0)
  return offer
end

--- An amount with as many decimals as it needs to stay above another.
---@param amount number
---@param floor number
---@return string
local function above(amount, floor)
  for decimals = 2, 12 do
    local text = ('%.' .. decimals .. 'f'):format(amount)
    if tonumber(text) > floor then
      return text
    end
  end
  return ('%.17g'):format(amount)
end

--- How a limit that was reached is raised: the name, its flag, its key on the
--- wire, and what is offered.
local raises = {
  max_iterations = {
    'iterations in total',
    '--max-iterations',
    'maxIterations',
    function(loop)
      return ('%d'):format(doubled(loop.maxIterations, loop.iteration, 1))
    end,
  },
  max_cost = {
    'dollars in total',
    '--max-cost',
    'maxCostUsd',
    function(loop)
      local cost = loop.cost or {}
      local limit, used = cost.limit or 0, cost.amount or 0
      return above(doubled(limit, used, used > 0 and used or 1), math.max(limit, used))
    end,
  },
  max_time = {
    'running time in total',
    '--max-time',
    'maxDurationMs',
    function(loop)
      local time = loop.time or {}
      return require('ralph.limits').duration(doubled(time.limitMs, time.spentMs, 30 * 60000))
    end,
  },
}

--- What is offered where a loop came to a limit.
---@param loop ralph.Loop
---@param stop_reason string
---@return string
function M.offer(loop, stop_reason)
  return raises[stop_reason][4](loop)
end

--- Asks for a higher limit where a loop came to one, and goes on. An answer of 0
--- would let it run without one, so that is asked about.
---@param folder string
---@param loop ralph.Loop
---@param stop_reason string
function M.raise(folder, loop, stop_reason)
  local what, flag, key = unpack(raises[stop_reason])
  local default = M.offer(loop, stop_reason)
  vim.ui.input({ prompt = ('Ralph, %s: '):format(what), default = default }, function(text)
    if not text or text == '' then
      return
    end
    local limits = require('ralph.limits').parse(flag .. ' ' .. text)
    if not limits then
      return notify.error(('"%s" is not a limit for %s'):format(text, what))
    end
    local function resume()
      require('ralph.loops').resume(folder, limits)
    end
    if limits[key] ~= 0 then
      return resume()
    end
    choose(('%s is no limit for %s. Go on without one?'):format(text, what), 'Leave it', {
      { 'Go on without a limit', resume },
    })
  end)
end

--- A loop ended: at a limit it can go on.
---@param source ralph.Source
---@param ending table
function M.ended(source, ending)
  if not format.is_capped(ending.stopReason) or config.get().notify == 'never' then
    return
  end
  local loop = require('ralph.status').by_id(source.loopId) or {}
  when_idle(function()
    choose('Ralph ' .. format.ending(ending) .. '.', 'Leave it', {
      {
        'Raise the limit and go on',
        function()
          M.raise(source.folder, loop, ending.stopReason)
        end,
      },
    })
  end)
end

--- Something can be done about what an update says of a loop that runs.
---@param source ralph.Source
---@param update ralph.Update
function M.offered(source, update)
  if #(update.offers or {}) == 0 or config.get().notify == 'never' then
    return
  end
  when_idle(function()
    local loop = require('ralph.status').by_id(source.loopId)
    if not loop or loop.state == 'ended' then
      return
    end
    choose(
      'Ralph, ' .. update.text,
      'Leave it',
      vim.tbl_map(function(offer)
        return {
          offer.title,
          function()
            require('ralph.loops').run(source.folder, offer.command, offer.arguments[1])
          end,
        }
      end, update.offers)
    )
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
  when_idle(function()
    choose(('The Ralph sidecar stopped (%s); see :Ralph log.'):format(how), 'Leave it', choices)
  end)
end

return M
