rockspec_format = '3.0'
package = 'ralph.nvim'
version = '@ROCK@-1'
description = {
  summary = 'Ralph loops in Neovim: runs coding agents again and again, each time with a fresh context',
  homepage = 'https://github.com/ralph-lsp/ralph-lsp/tree/main/editors/nvim',
  issues_url = 'https://github.com/ralph-lsp/ralph-lsp/issues',
  license = 'MIT',
  labels = { 'neovim' },
}
dependencies = { 'lua >= 5.1' }
source = {
  url = 'https://github.com/ralph-lsp/ralph-lsp/releases/download/v@VERSION@/ralph.nvim-@VERSION@.tar.gz',
  dir = 'ralph.nvim-@VERSION@',
}
build = {
  type = 'builtin', -- takes what is below lua/
  copy_directories = { 'doc', 'ftplugin', 'plugin', 'syntax' },
}
