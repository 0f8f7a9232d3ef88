-- The window of the overview of all loops.
for name, value in pairs({
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  spell = false,
  wrap = true, -- what is known of a loop: its own line is cut
  linebreak = true,
  breakindent = true,
  breakindentopt = 'list:-1',
  cursorline = true,
}) do
  vim.wo[0][0][name] = value
end
vim.bo.formatlistpat = [[^    .\{-}  \+]] -- the label: lines go on behind it
