// Package agents reads the agents that people describe in markdown files: a front matter
// with name, description, tools and model, and a system prompt behind it. Each belongs
// to a backend, which keeps such files in a folder of the user's and in one of a project. It
// starts nothing and trusts nobody.
//
// What is wrong in a file is said with its line (front.go), and arguments are made of an agent
// (args.go) as far as the backend that runs it can be told. Where such files are, and how a backend
// takes tools, is data in its file. Nobody is trusted here: what a folder brings along is marked,
// and loop/start asks.
package agents
