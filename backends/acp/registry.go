package acp

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"runtime"
	"slices"
)

// RegistryURL is where the protocol's public list of agents is.
const RegistryURL = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"

// Entry is an agent of the registry, with the ways in which it is had.
type Entry struct {
	ID, Version, Description string
	Distribution             struct {
		NPX, UVX *struct {
			Package string
			Args    []string
			Env     map[string]string
		}
		Binary map[string]struct {
			Archive, Cmd string
			Args         []string
		}
	}
}

// ReadRegistry reads the registry. What it has besides may be of a later version.
func ReadRegistry(data []byte) ([]Entry, error) {
	var all struct{ Agents []Entry }
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	all.Agents = slices.DeleteFunc(all.Agents, func(e Entry) bool { return e.ID == "" })
	if len(all.Agents) == 0 {
		return nil, errors.New("it lists no agents")
	}
	return all.Agents, nil
}

// Command is what would run the agent here. archive is where a program comes from that isn't
// fetched by the command itself. It is empty for an agent that there is not on this system.
func (e Entry) Command() (argv, env []string, archive string) {
	d := e.Distribution
	if p := cmp.Or(d.NPX, d.UVX); p != nil {
		argv = []string{"npx", "-y", p.Package}
		if d.NPX == nil {
			argv = []string{"uvx", p.Package}
		}
		for _, name := range slices.Sorted(maps.Keys(p.Env)) {
			env = append(env, name+"="+p.Env[name])
		}
		return append(argv, p.Args...), env, ""
	}
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if b, ok := d.Binary[runtime.GOOS+"-"+arch]; ok {
		return append([]string{b.Cmd}, b.Args...), nil, b.Archive
	}
	return nil, nil, ""
}
