-- The colours of the overview; its extmarks name them.
for name, link in pairs({
  Title = 'Title',
  Info = 'Normal',
  Ok = 'DiagnosticOk',
  Warning = 'DiagnosticWarn',
  Error = 'DiagnosticError',
  Folder = 'Comment',
  Label = 'Identifier',
}) do
  vim.cmd(('highlight default link ralphLoop%s %s'):format(name, link))
end
vim.b.current_syntax = 'ralphloops'
