-- The window of the overview of all loops.
for name, value in pairs({
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  spell = false,
  wrap = false,
  cursorline = true,
}) do
  vim.wo[0][0][name] = value
end
