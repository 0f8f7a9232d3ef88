---@meta
--- Types of the plugin's own tables and of the sidecar's messages. What doesn't
--- apply is absent, never vim.NIL.

---@class ralph.Config
---@field cmd? string[] the sidecar's command line; default: whichever |ralph-option-cmd| finds
---@field fleet? { bus?: string } loops of a bus are shown as well: its URL; default: none
---@field flags? string[] flags for every start, as { '--backend=pi' }; those of the start win
---@field permissions? ''|'ask' all agents that can ask their user do; default: what files and flags say
---@field on_close? ''|'keep'|'end' what becomes of loops when Neovim ends; default: what files and flags say
---@field root? fun(): string the folder of the loop; default: the working directory
---@field prompt_file? string offered when a start has no prompt
---@field notify? 'always'|'unfocused'|'never' when a loop's end is notified
---@field autostart? boolean start the sidecar where a loop was left behind
---@field documents? boolean diagnostics and so on in prompt, state and config files
---@field log? string|false the sidecar's log file
---@field output? ralph.OutputConfig
---@field statusline? ralph.StatuslineConfig

---@class ralph.OutputConfig
---@field split? string the command that makes its window
---@field max_lines? integer lines kept in the buffer
---@field tool_lines? integer lines shown of a tool's output
---@field thinking? boolean show the agent's reasoning

---@class ralph.StatuslineConfig
---@field prefix? string
---@field width? integer cells for what a loop does

--- A command that the sidecar offers.
---@class ralph.Command
---@field title string
---@field command string
---@field arguments? table[]

--- What a person is told.
---@class ralph.Said
---@field text? string one line
---@field class? 'info'|'ok'|'warning'|'error'
---@field notify? boolean the user is told wherever they look, not only in the output
---@field offers? ralph.Command[] what can be done about it

--- A row of a table.
---@class ralph.Detail
---@field label string
---@field text string

---@class ralph.Cost
---@field amount number
---@field currency string
---@field limit? number
---@field iteration? number

---@class ralph.Talk: ralph.Command
---@field key string of the argument that gets the words
---@field hint string

---@class ralph.Loop: ralph.Said
---@field loopId? string
---@field folder string file URI
---@field title string its prompt's beginning
---@field name string begins what a user is told of it
---@field state 'starting'|'running'|'waiting'|'paused'|'cancelling'|'interrupted'|'failed'|'ended'
---@field line string how it stands, and what it does now
---@field live boolean somebody drives it
---@field busy boolean it works now
---@field detached? boolean it runs alone, in a process of its own
---@field talks? ralph.Talk[] what becomes of words that are typed for it, that first which Return means
---@field can? string[] what can be done with it: "cancel", "pause", "resume", ...
---@field details? ralph.Detail[] what there is to know of it besides
---@field host? string the worker that has it or had it last; nil: it is of this machine
---@field origin? string file URI of the folder that a loop of another machine came from
---@field worktree? { branch: string, repository: string, path: string } that it works in; both are file URIs
---@field iteration? integer
---@field startedAt? string RFC 3339
---@field iterationStartedAt? string
---@field backend? { name: string, version?: string, provider?: string, model?: string }
---@field cost? ralph.Cost
---@field time? { spentMs: integer, limitMs?: integer } running time of the iterations that ended
---@field tool? ralph.RunningTool
---@field agents? ralph.RunningTool[] that work for the loop's agent, or as its steps
---@field error? string
---@field owned boolean false: another process drives it, or none
---@field questions? ralph.Question[] what its agent waits to be told, the oldest first
---@field allowed? { rule: string, text: string, offers: ralph.Command[] }[] for the whole loop
---@field stateFileUri? string
---@field sessionFileUri? string

--- What an agent waits to be told.
---@class ralph.Question: ralph.Said
---@field loopId string
---@field folder string file URI
---@field id string
---@field kind 'permission'|'confirm'|'select'|'input'|'limits'
---@field agent? string which one asks, in a step or below
---@field title string what and where, one line
---@field detail? string all of it
---@field placeholder? string of an input

---@class ralph.RunningTool
---@field toolCallId string
---@field name string
---@field title string
---@field kind string
---@field startedAt? string

---@class ralph.Status
---@field seq integer
---@field health 'ok'|'warning'|'error'
---@field busy boolean an agent is at work
---@field message string
---@field text? string what is to be known of all loops: that some aren't listed
---@field loops ralph.Loop[]

---@class ralph.Update: ralph.Said
---@field sessionUpdate string one of wire.updates
---@field receipt? ralph.Detail[] of an end: what else there is to say of it

---@class ralph.UpdateParams
---@field loopId string
---@field after? string cursor before the updates; nil: something is missing there
---@field cursor? string behind them
---@field updates ralph.Update[]

--- What a start would run.
---@class ralph.Preview
---@field text string one line
---@field details ralph.Detail[]
---@field problems? { text: string, class: string, offers?: ralph.Command[] }[] in its way
---@field warnings? string[]
---@field offers? ralph.Command[] what it leaves open

---@class ralph.StartOptions
---@field prompt? string
---@field prompt_file? string path; its content is the prompt
---@field text? string flags and prompt, as on the command line
---@field folder? string path; default: the current folder
---@field backend? string
---@field model? string
---@field args? string[] arguments for the agent
---@field limits? ralph.Limits
---@field replace? boolean cancel or discard the loop that is there

---@class ralph.Limits
---@field max_iterations? integer 0: unlimited
---@field completion_promise? string
---@field max_cost_usd? number
---@field max_duration_ms? integer
---@field idle_timeout_ms? integer
---@field tool_timeout_ms? integer
---@field max_consecutive_failures? integer
---@field max_unchanged_iterations? integer
---@field max_unknown_cost_runs? integer

---@class ralph.Error
---@field code? integer
---@field message string
---@field data? { reason?: string, [string]: any }
