-- The window and the keys of a loop's output.
if vim.b.did_ftplugin then
  return
end
vim.b.did_ftplugin = true

local options = {
  foldmethod = 'manual',
  foldtext = "v:lua.require'ralph.output'.foldtext()",
  foldlevel = 99,
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  spell = false,
  wrap = true,
  linebreak = true,
  breakindent = true,
  breakindentopt = 'list:-1',
  formatlistpat = [[^  \u\l*\( \l\+\)*\s\{2,}]], -- the label of a receipt's row
}
for name, value in pairs(options) do
  vim.opt_local[name] = value
end
require('ralph.output').set_keys(vim.api.nvim_get_current_buf())

vim.b.undo_ftplugin = ('setlocal %s< | lua require("ralph.keys").remove(0)'):format(
  table.concat(vim.tbl_keys(options), '< ')
)
