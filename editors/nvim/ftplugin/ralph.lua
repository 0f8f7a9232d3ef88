-- The window and the keys of a loop's output.
if vim.b.did_ftplugin then
  return
end
vim.b.did_ftplugin = true

local folder = vim.b.ralph_folder
if folder then
  -- gf finds the files that tool calls name.
  vim.bo.path = vim.fn.escape(folder, ' ,\\') .. ',,'
end
vim.wo[0][0].foldmethod = 'manual'
vim.wo[0][0].foldtext = "v:lua.require'ralph.output'.foldtext()"
vim.wo[0][0].foldlevel = 99
vim.wo[0][0].number = false
vim.wo[0][0].relativenumber = false
vim.wo[0][0].signcolumn = 'no'
vim.wo[0][0].spell = false
vim.wo[0][0].wrap = true
vim.wo[0][0].linebreak = true

-- The title of a tool call may be a path with spaces, where gf sees one word.
vim.keymap.set('n', 'gf', function()
  local title = vim.api.nvim_get_current_line():match('^ *[●✓✗]+ %S+  (.+)$')
  local is_absolute = title and vim.startswith(title, '/')
  local path = title and vim.fs.joinpath(is_absolute and '' or folder or '.', title)
  if path and path:find(' ', 1, true) and vim.fn.filereadable(path) == 1 then
    vim.cmd.edit(vim.fn.fnameescape(path))
  else
    vim.cmd.normal({ 'gf', bang = true })
  end
end, { buffer = true, desc = 'Open the file' })

vim.keymap.set('n', 'q', function()
  if not pcall(vim.api.nvim_win_close, 0, false) then
    vim.cmd('silent! buffer #') -- the last window
  end
end, { buffer = true, nowait = true, desc = 'Close the output' })

vim.b.undo_ftplugin = 'setlocal path< foldmethod< foldtext< foldlevel< '
  .. 'number< relativenumber< signcolumn< spell< wrap< linebreak< | silent! nunmap <buffer> q | '
  .. 'silent! nunmap <buffer> gf'
