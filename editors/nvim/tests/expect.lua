-- Checks that say what they saw.
local M = {}

function M.equal(got, want)
  if not vim.deep_equal(got, want) then
    error(('got %s\nwant %s'):format(vim.inspect(got), vim.inspect(want)), 2)
  end
end

--- Wants a text that has another, literally.
function M.contains(text, part)
  if type(text) ~= 'string' or not text:find(part, 1, true) then
    error(('no %s in\n%s'):format(vim.inspect(part), tostring(text)), 2)
  end
end

function M.matches(text, pattern)
  if type(text) ~= 'string' or not text:find(pattern) then
    error(('no match of %s in\n%s'):format(vim.inspect(pattern), tostring(text)), 2)
  end
end

return M
