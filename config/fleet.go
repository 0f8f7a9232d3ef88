package config

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// FleetName is the name of the user's file for ralph-fleet, in the user's folder. No
// repository has one.
const FleetName = "fleet.toml"

// The values of the keys for what a part of a fleet logs.
var (
	LogFormats = []string{"text", "json"}
	LogLevels  = []string{"debug", "info", "warn", "error"}
)

// fleetKeys is the table of fleet.toml. A key of the top counts for each command that has
// its flag, the others for the command that their table is called by.
var fleetKeys = table{
	{Path: path("bus"), Type: Text, Default: `"nats://127.0.0.1:4222"`, check: checkBus,
		Doc: "Where the bus is; several servers of a cluster with commas between."},
	{Path: path("token_file"), Type: Text, check: checkPlace, Doc: "The file with the token of the bus. A token never " +
		"stands in this file itself."},
	{Path: path("ca"), Type: Text, check: checkPlace, Doc: "The file with the certificate that the bus is known by."},
	{Path: path("log_format"), Type: Text, Default: `"text"`, Values: LogFormats, Doc: "How `worker` and `serve` log."},
	{Path: path("log_level"), Type: Text, Default: `"info"`, Values: LogLevels, Doc: "From which level on they do."},

	{Path: path("worker"), Type: Table, Doc: "For `ralph-fleet worker`."},
	{Path: path("worker.slots"), Type: Count, Default: "1", max: 10_000, Doc: "How many iterations run at the same time."},
	{Path: path("worker.sandbox"), Type: Text, Default: `"workspace"`, Values: []string{sandbox.Workspace, sandbox.Off},
		Doc: "The walls around each loop. `off`: only around those that were submitted with some."},
	{Path: path("worker.lease"), Type: Duration, Doc: "The worker begins only if the lease of the bus is this one. Without " +
		"it, it takes what `ralph-fleet limits --lease` says."},
	{Path: path("worker.dir"), Type: Text, check: checkPlace, Doc: "Where repositories and checkouts are; each worker needs its own."},
	{Path: path("worker.name"), Type: Text, check: checkPresent, Doc: "What the worker is called. Without it: host and process."},
	{Path: path("worker.labels"), Type: Texts, Default: "[]", Samples: []string{`["gpu"]`}, check: checkPresent,
		Doc: "What the worker has. Loops are submitted for it (`submit --on gpu`), and people see it with its name."},
	{Path: path("worker.metrics"), Type: Text, check: checkAddress, Doc: "The address at which Prometheus finds its " +
		"metrics. Without it there are none."},

	{Path: path("serve"), Type: Table, Doc: "For `ralph-fleet serve`."},
	{Path: path("serve.listen"), Type: Text, Default: `"127.0.0.1:4222"`, check: checkAddress, Doc: "The address of the bus."},
	{Path: path("serve.dir"), Type: Text, check: checkPlace, Doc: "Where the bus has its files."},
	{Path: path("serve.tls_cert"), Type: Text, check: checkPlace, Doc: "The file with its certificate."},
	{Path: path("serve.tls_key"), Type: Text, check: checkPlace, Doc: "The file with the key of that."},
	{Path: path("serve.metrics"), Type: Text, check: checkAddress, Doc: "As for a worker."},
}

// FleetKeys returns the table of fleet.toml, parents before children.
func FleetKeys() []Key { return slices.Clone(fleetKeys) }

// Fleet is what a user's fleet.toml says: the values of its keys ("worker.slots") as
// flags take them. Paths are absolute.
type Fleet map[string][]string

// LoadFleet reads fleet.toml in the user's folder. A missing one says nothing.
//
// Errors: *InvalidError, and what the system says.
func LoadFleet(userDir string) (Fleet, error) {
	name := filepath.Join(userDir, FleetName)
	data, err := readFile(name)
	if err != nil {
		return nil, err
	}
	c := &checker{Document: Parse(data), keys: fleetKeys, bad: map[string]bool{}}
	c.checkEntries()
	var invalid InvalidError
	c.sort()
	for _, p := range c.problems {
		if p.Key == "token" {
			p.Message = "the token doesn't stand here: write it into a file that only you can read, and name that: token_file"
		}
		invalid.Problems = append(invalid.Problems, FileProblem{name, p})
	}
	if err := invalid.orNil(); err != nil {
		return nil, err
	}
	fleet := Fleet{}
	for _, key := range fleetKeys {
		if v := at(c.values, key.Path...); v != nil && key.Type != Table {
			fleet[strings.Join(key.Path, ".")] = key.asFlag(v, userDir)
		}
	}
	return fleet, nil
}

// asFlag is a value of fleet.toml as a flag takes it.
func (k Key) asFlag(v any, dir string) []string {
	switch {
	case k.Type == Texts:
		return texts(v)
	case k.Type == Duration:
		d, _ := limits.ParseSpan(v.(string)) // it was checked
		return []string{d.String()}
	case slices.Contains([]string{"token_file", "ca", "dir", "tls_cert", "tls_key"}, k.Name()):
		return []string{fullPath(v.(string), dir)}
	}
	return []string{fmt.Sprint(v)}
}

// fullPath is a path of the file: absolute, below the user's home, or relative to the file.
func fullPath(text, dir string) string {
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(text) {
		return text
	}
	return filepath.Join(dir, text)
}

// checkPlace completes "KEY ..." for the path of a file or folder.
func checkPlace(text string) string {
	if strings.HasPrefix(text, "~") && !strings.HasPrefix(text, "~/") {
		return "is " + text + ", another user's home; write the path from / on"
	}
	return checkPresent(text)
}

// checkBus completes "bus ...".
func checkBus(text string) string {
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		switch {
		case err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme):
			return "is no URL of a bus; write it as nats://HOST:4222, or tls://HOST:4222"
		case u.User != nil:
			return "has a name or token in it; write the token into a file of its own, and name that: token_file"
		}
	}
	return ""
}

// checkAddress completes "KEY ..." for what is listened on.
func checkAddress(text string) string {
	if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
		return fmt.Sprintf("is %q; write it as 127.0.0.1:4222", text)
	}
	return ""
}

// EnvFleetSecrets has the files that lead to the bus and are named by flags, as PATH has folders.
const EnvFleetSecrets = "RALPH_FLEET_SECRETS"

// fleetSecrets are the files that lead to the user's bus, or to what it is served with.
func fleetSecrets(userDir string) []string {
	var secrets []string
	if named := os.Getenv(EnvFleetSecrets); named != "" {
		secrets = filepath.SplitList(named)
	}
	file := filepath.Join(userDir, FleetName)
	if _, err := os.Lstat(file); userDir == "" || err != nil {
		return secrets
	}
	fleet, _ := LoadFleet(userDir) // one that isn't right leads nowhere
	return slices.Concat(secrets, []string{file}, fleet["token_file"], fleet["serve.tls_key"])
}
