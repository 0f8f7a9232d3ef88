package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/config"
)

// fromEnv are the keys of fleet.toml that the environment may say, too.
var fromEnv = map[string]string{"bus": "RALPH_BUS"}

// keyOf is the key of fleet.toml that stands for a flag of a command.
func keyOf(command, flag string) string {
	name := strings.ReplaceAll(flag, "-", "_")
	if name == "label" {
		name = "labels"
	}
	if command != "worker" && command != "serve" {
		return name
	}
	own := command + "." + name
	if slices.ContainsFunc(config.FleetKeys(), func(key config.Key) bool {
		return strings.Join(key.Path, ".") == own &&
			key.Type != config.Table
	}) {
		return own
	}
	return name
}

// settle gives a command's flags that weren't given what the user has settled.
func settle(cmd *cobra.Command) error {
	var file config.Fleet
	if dir, err := config.UserDir(); err == nil { // else there is no home
		if file, err = config.LoadFleet(dir); err != nil {
			return err
		}
	}
	return fillIn(cmd, file)
}

// fillIn gives a command's flags that weren't given what the environment or the user's
// file says.
func fillIn(cmd *cobra.Command, file config.Fleet) error {
	var problem error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		values := setting(keyOf(cmd.Name(), f.Name), file)
		if f.Changed || problem != nil {
			return
		}
		for _, value := range values {
			if problem = f.Value.Set(value); problem != nil {
				return
			}
		}
	})
	return problem
}

// setting is what the environment says of a key, or else the file.
func setting(key string, file config.Fleet) []string {
	if value := os.Getenv(fromEnv[key]); fromEnv[key] != "" && value != "" {
		return []string{value}
	}
	if key == "token_file" && os.Getenv("RALPH_TOKEN") != "" {
		return nil // that wins
	}
	return file[key]
}
