--- Prompts that were written and not started yet, by folder. They outlive Neovim.
local M = {}

---@param folder string
---@return string path
local function path_of(folder)
  local name = vim.fn.sha256(folder):sub(1, 16) .. '.md'
  return vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'ralph-drafts', name)
end

--- The draft of a folder; "" when there is none.
---@param folder string
---@return string
function M.read(folder)
  local file = io.open(path_of(folder), 'rb')
  if not file then
    return ''
  end
  local text = file:read('*a')
  file:close()
  return text
end

--- Keeps a draft, that only the user can read; one without a word is removed.
---@param folder string
---@param text string
---@return string? problem
function M.write(folder, text)
  local path = path_of(folder)
  if vim.trim(text) == '' then
    vim.uv.fs_unlink(path)
    return nil
  end
  local made, problem = pcall(vim.fn.mkdir, vim.fs.dirname(path), 'p', 448) -- 0700
  if not made then
    return tostring(problem)
  end
  local file, failure = vim.uv.fs_open(path .. '.new', 'w', 384) -- 0600
  if not file then
    return failure
  end
  local written, cause = vim.uv.fs_write(file, text)
  vim.uv.fs_close(file)
  if not written then
    return cause
  end
  local moved, why = vim.uv.fs_rename(path .. '.new', path)
  return not moved and why or nil
end

return M
