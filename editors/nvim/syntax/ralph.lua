-- The output of a loop: headings, tool calls, notes.
if vim.b.current_syntax then
  return
end

vim.cmd([[
  syntax match ralphIteration "^▌ iteration .*$" contains=ralphFacts
  syntax match ralphFacts " · .*$" contained
  syntax match ralphRunning "^\( \+[^:│┊]\{-}:\)\? *● .*$" contains=ralphToolName
  syntax match ralphDone "^\( \+[^:│┊]\{-}:\)\? *✓ .*$" contains=ralphToolName
  syntax match ralphFailed "^\( \+[^:│┊]\{-}:\)\? *✗ .*$" contains=ralphToolName
  syntax match ralphToolName "\%([●✓✗] \)\@<=\S\+" contained
  syntax match ralphOutput "^  │ .*$"
  syntax match ralphThought "^ *┊ .*$"
  syntax match ralphUser "^› .*$"
  syntax match ralphNote "^» .*$"
  syntax match ralphWarning "^! .*$"
  syntax match ralphEnd "^■ .*$"
  syntax match ralphLeftOut "^… .*$"
  syntax match ralphPromise "<promise>.\{-}</promise>"

  highlight default link ralphIteration Title
  highlight default link ralphFacts Comment
  highlight default link ralphRunning Special
  highlight default link ralphDone String
  highlight default link ralphFailed ErrorMsg
  highlight default link ralphToolName Function
  highlight default link ralphOutput Comment
  highlight default link ralphThought Comment
  highlight default link ralphUser Question
  highlight default link ralphNote Identifier
  highlight default link ralphWarning WarningMsg
  highlight default link ralphEnd Title
  highlight default link ralphLeftOut NonText
  highlight default link ralphPromise Constant
]])

vim.b.current_syntax = 'ralph'
