-- A component for lualine: sections = { lualine_x = { 'ralph' } }.
local M = require('lualine.component'):extend()

local groups = { ok = 'DiagnosticOk', warning = 'DiagnosticWarn', error = 'DiagnosticError' }

function M:init(options)
  if not options.color then -- lualine makes the highlights of it in its own init
    options.color = function()
      return groups[require('ralph').status().health]
    end
  end
  M.super.init(self, options)
end

function M.update_status()
  return (require('ralph').statusline():gsub('%%', '%%%%'))
end

return M
