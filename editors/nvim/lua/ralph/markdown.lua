--- Colours for the markdown that agents write, by treesitter where its parser is there.
--- Each message is a document of its own, so what one leaves open ends with it.
local M = {}

local namespace = vim.api.nvim_create_namespace('ralph.markdown')

---@type boolean? nil: not looked for yet
local is_there

--- Not colours, or not for a text that can't be edited.
local ignored = { spell = true, nospell = true, conceal = true, none = true }

--- Whether a text may have markup at all: most of what comes in floods has none.
---@param text string
---@return boolean
local function is_marked_up(text)
  return text:find('[`*_#~|>%[]') ~= nil
    or ('\n' .. text):find('\n%s*[-+] ') ~= nil
    or ('\n' .. text):find('\n%s*%d+[.)] ') ~= nil
end

---@param text string
---@param mark fun(range: { [1]: integer, [2]: integer, [3]: integer, [4]: integer }, group: string)
local function each_capture(text, mark)
  local parser = vim.treesitter.get_string_parser(text, 'markdown')
  parser:parse(true)
  parser:for_each_tree(function(tree, language)
    local query = vim.treesitter.query.get(language:lang(), 'highlights')
    if not query then
      return
    end
    for id, node in query:iter_captures(tree:root(), text, 0, -1) do
      local name = query.captures[id]
      if not ignored[name] and name:sub(1, 1) ~= '_' then
        mark({ node:range() }, ('@%s.%s'):format(name, language:lang()))
      end
    end
  end)
end

--- Colours a message that is complete.
---@param buf integer
---@param row integer zero-based, of its first line
---@param lines string[]
function M.colour(buf, row, lines)
  if is_there == nil then
    is_there = pcall(vim.treesitter.get_string_parser, '', 'markdown')
  end
  local text = table.concat(lines, '\n')
  if not is_there or not is_marked_up(text) then
    return
  end
  pcall(each_capture, text, function(range, group) -- a parser or a query of the user's may fail
    vim.api.nvim_buf_set_extmark(buf, namespace, row + range[1], range[2], {
      end_row = row + range[3],
      end_col = range[4],
      hl_group = group,
      strict = false,
    })
  end)
end

return M
