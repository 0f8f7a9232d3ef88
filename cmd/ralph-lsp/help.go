package main

// firstRun is the command that a newcomer is shown first, in the README, the help and behind the demo.
const firstRun = `ralph-lsp run "Make the tests pass" --max-cost 5`

// overview is the general help: what a newcomer needs, in one screen.
const overview = `ralph-lsp runs a coding agent (pi, claude, or any program) in a Ralph loop:
the same prompt again and again, each time with a fresh context, until the agent
promises that it is done or a limit is reached.

Start here
  ralph-lsp demo                            a whole loop, nothing to install
  ralph-lsp doctor                          which agents are installed, what is wrong
  ` + firstRun + `
  ralph-lsp run --prompt-file PROMPT.md --max-iterations 20 --max-cost 5
  ralph-lsp init                            a ralph.toml and a PROMPT.md to fill in
  ralph-lsp plan "We need a parser"         write a plan with the agent first

From another terminal, in the same folder (or with -C DIR)
  ralph-lsp status                          where the loop stands
  ralph-lsp watch | top                     what the loop does | all loops at once
  ralph-lsp steer "Leave the parser alone"  tell the agent something
  ralph-lsp note "Tests need LANG=C"        leave word for later runs (run --notes FILE)
  ralph-lsp answer                          what an agent asks (permissions = "ask")
  ralph-lsp update --max-iterations 100     change limits or the promise
  ralph-lsp pause | resume | next           stop after this run | go on | end this run
  ralph-lsp cancel                          end the loop now
  ralph-lsp detach | attach                 let the loop go on alone | show it again
  (or edit .pi/ralph-loop.local.md: limits count at once, the prompt from the next run)

What the loop changed
  ralph-lsp changes --iteration 3           which files, whoever wrote them
  ralph-lsp undo --since 3 | redo           undo what it changed | redo it
  ralph-lsp land                            merge what run --worktree did, or discard it

More
  ralph-lsp trust                           let the folder's ralph.toml name programs
  ralph-lsp sandbox workspace               walls around the agents of all your loops
  ralph-lsp hats | emit                     who hands over to whom | hand over, in a run
  ralph-lsp agents                          the agents of markdown files
  ralph-lsp --stdio [--log FILE]            serve an editor (its plugin runs this)
  ralph-lsp acp                             serve an editor that speaks ACP (Zed, ...)
  ralph-lsp ahp --token-file FILE [FOLDER..] serve VS Code's chat
  ralph-lsp mcp                             serve models by MCP (Copilot and others)
  ralph-lsp history [show]                  past loops; pi can open them too
  ralph-lsp decode --format pi FILE         a recorded stream as event lines
  ralph-lsp completion bash|zsh|fish|powershell   (help completion bash: how to set it up)
  ralph-lsp clean [--dry-run]               remove what is kept of past loops
  ralph-lsp version | notify test           print the version | try how loops call you
  ralph-lsp help COMMAND                    how to use a command (run --help-all: all)

Exit codes: 0 done, 2 a limit was reached, 1 failed, 130 cancelled or interrupted.
`
