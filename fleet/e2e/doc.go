// Package e2e tests ralph-fleet as its users run it: a bus, workers and commands, each a
// process, with scripted agents, on loopback. What is killed here is killed.
package e2e
