package main

import "time"

// overview is the general help: what a newcomer needs, in one screen.
const overview = `ralph-fleet runs Ralph loops on many machines. A bus keeps the loops; workers
run one iteration at a time, with ralph-lsp and the agents of their machine.

Start here, in a repository (the first two in terminals of their own)
  ralph-fleet serve                        the bus
  ralph-fleet worker --slots 2             runs iterations on this machine
  ralph-fleet submit --completion-promise DONE "Make the tests pass"
  ralph-fleet status                       how loops stand, which workers are there
  ralph-fleet land make-the-tests-pass     what the loop did, on your branch

Loops, by name or id, or many at once by --label KEY=VALUE (given to submit)
  ralph-fleet watch LOOP...                what it does, until it ends
  ralph-fleet steer LOOP "Leave it alone"  tell its agent something
  ralph-fleet answer LOOP                  what its agent asks (--permissions ask)
  ralph-fleet pause | resume LOOP...       stop after this iteration | go on
  ralph-fleet next LOOP...                 end this iteration, begin the next
  ralph-fleet cancel LOOP...               end it now
  ralph-fleet fetch LOOP...                what it did, as a branch of its own
  ralph-fleet remove LOOP...               take an ended loop off the bus

The fleet
  ralph-fleet doctor                       what is wrong, and what helps
  ralph-fleet limits                       what all loops together may cost and run
  ralph-fleet queue                        teams, each with needs, budget and workers
  ralph-fleet budget                       what they have spent; puts it right
  ralph-fleet submit --each tasks.jsonl    a loop for each line of a file
  ralph-fleet --stdio                      serve an editor, with the loops of the bus
  ralph-fleet completion bash|zsh|fish|powershell   (help completion bash says how)
  ralph-fleet help COMMAND                 all flags of a command
  ralph-fleet version

The bus is nats://127.0.0.1:4222, or what --bus, RALPH_BUS or fleet.toml says.
`

// completionPatience bounds how long a shell waits for the names of loops.
const completionPatience = 2 * time.Second

// anyLoops is how many loops a command takes that takes some.
const anyLoops = 1 << 10
