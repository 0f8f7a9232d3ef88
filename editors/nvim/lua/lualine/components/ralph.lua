-- A component for lualine: sections = { lualine_x = { 'ralph' } }.
local M = require('lualine.component'):extend()

local groups = { ok = 'DiagnosticOk', warning = 'DiagnosticWarn', error = 'DiagnosticError' }

function M:init(options)
  M.super.init(self, options)
  if not options.color then
    self.options.color = function()
      return groups[require('ralph').status().health]
    end
  end
end

function M.update_status()
  return (require('ralph').statusline():gsub('%%', '%%%%'))
end

return M
