package reaper

import "time"

// Used is the processor time of what the agent has started: of those that live, and of those that these have waited
// for. It has neither that of the agent itself nor that of walls around it.
func (a *Agent) Used() (used time.Duration) {
	agent, err := ReadStat(a.PID)
	if err != nil || agent.Start != a.Start {
		return 0
	}
	if a.walled {
		for _, first := range children(a.PID) {
			agent = agentAmong(first)
		}
	}
	used = agent.waited
	for _, p := range agent.Descendants() {
		if s, err := ReadStat(p.PID); err == nil {
			used += s.own + s.waited
		}
	}
	return used
}
