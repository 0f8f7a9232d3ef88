package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/ralph-lsp/ralph-lsp/config"
)

const deploy = "../../deploy"

func readDeploy(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deploy, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var flagWord = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]+)`)

// checkFlags wants a command to have all flags of a line.
func checkFlags(t *testing.T, where, name, line string) {
	t.Helper()
	commands := map[string]*cobra.Command{"serve": newServe(), "worker": newWorker(), "doctor": newDoctor(), "status": newStatus(), "queue": newQueueAdd()}
	cmd := commands[name]
	if cmd == nil {
		t.Errorf("%s: there is no command %q", where, name)
		return
	}
	for _, m := range flagWord.FindAllStringSubmatch(line, -1) {
		if cmd.Flags().Lookup(m[1]) == nil {
			t.Errorf("%s: ralph-fleet %s has no --%s", where, name, m[1])
		}
	}
}

var commandLine = regexp.MustCompile(`ralph-fleet ([a-z]+)((?:[ \t]+[^\s|]+)*)`)

func TestUnitsStartWhatThereIs(t *testing.T) {
	for _, name := range []string{"serve", "worker"} {
		unit := readDeploy(t, "systemd/ralph-fleet-"+name+".service")
		m := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/ralph-fleet ([a-z]+)(.*)$`).FindStringSubmatch(unit)
		if m == nil || m[1] != name {
			t.Fatalf("the unit of %s starts %q", name, m)
		}
		checkFlags(t, name+".service", m[1], m[2])
		for _, want := range []string{"LoadCredential=token:", "StateDirectory=", "ProtectSystem=strict", "Restart=", "NoNewPrivileges=yes"} {
			if !strings.Contains(unit, "\n"+want) {
				t.Errorf("the unit of %s has no %s", name, want)
			}
		}
		drain, stop := time.Duration(0), regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`).FindStringSubmatch(unit)
		if found := regexp.MustCompile(`--drain (\S+)`).FindStringSubmatch(m[2]); found != nil {
			drain, _ = time.ParseDuration(found[1]) // of none, the unit has none
		}
		if (drain > 0) != (name == "worker") || stop == nil || stop[1] != strconv.Itoa(int((drain+time.Minute).Seconds())) {
			t.Errorf("the unit of %s drains for %s, and has %v for its end", name, drain, stop)
		}
	}
	if !strings.Contains(readDeploy(t, "systemd/ralph-fleet-worker.service"), "\nKillMode=mixed\n") {
		t.Error("systemd signals a worker's children behind its back")
	}
}

func TestTheComposeFileStartsWhatThereIs(t *testing.T) {
	var file struct {
		Secrets  map[string]struct{ File string }
		Services map[string]struct {
			Command, Entrypoint, Secrets []string
			Build                        struct{ Dockerfile, Target string }
			Healthcheck                  struct{ Test []string }
		}
	}
	if err := yaml.Load([]byte(readDeploy(t, "compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	dockerfile := readDeploy(t, "Dockerfile")
	for service, command := range map[string]string{"bus": "serve", "worker": "worker"} {
		s := file.Services[service]
		line := strings.Join(s.Entrypoint, " ") + " " + strings.Join(s.Command, " ")
		if !strings.Contains(line, command) || !strings.Contains(line, "--token-file /run/secrets/token") {
			t.Errorf("%s runs %q", service, line)
		}
		checkFlags(t, service, command, line)
		health := commandLine.FindStringSubmatch(strings.Join(s.Healthcheck.Test[1:], " "))
		if health == nil {
			t.Fatalf("%s: who says that it is well? %q", service, s.Healthcheck.Test)
		}
		checkFlags(t, service+"'s health", health[1], health[2])
		if len(s.Secrets) != 1 || file.Secrets[s.Secrets[0]].File == "" {
			t.Errorf("%s has the secrets %q", service, s.Secrets)
		}
		if s.Build.Dockerfile != "fleet/deploy/Dockerfile" || !strings.Contains(dockerfile, " AS "+s.Build.Target+"\n") {
			t.Errorf("%s is built as %+v", service, s.Build)
		}
	}
	for _, m := range commandLine.FindAllStringSubmatch(strings.ReplaceAll(readDeploy(t, "compose.yaml"), ",", " "), -1) {
		checkFlags(t, "compose.yaml", m[1], m[2])
	}
}

// manifest is what tests ask of one.
type manifest struct {
	Kind      string
	Metadata  struct{ Name string }
	Resources []string
	Patches   []struct{ Path string }
	Images    []struct{ Name string }
	Spec      struct {
		ServiceName              string `yaml:"serviceName"`
		ClusterIP                string `yaml:"clusterIP"`
		PublishNotReadyAddresses bool   `yaml:"publishNotReadyAddresses"`
		Replicas                 int
		ScaleTargetRef           struct{ Name string } `yaml:"scaleTargetRef"`
		Triggers                 []struct {
			Metadata struct{ Query, Threshold string }
		}
		Template struct {
			Spec struct {
				TerminationGracePeriodSeconds int `yaml:"terminationGracePeriodSeconds"`
				SecurityContext               struct {
					SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
				} `yaml:"securityContext"`
				Containers []struct {
					Image          string
					Args           []string
					ReadinessProbe struct {
						HTTPGet struct{ Path string } `yaml:"httpGet"`
					} `yaml:"readinessProbe"`
				}
			}
		}
	}
}

func manifests(t *testing.T, name string) (all []manifest) {
	t.Helper()
	for text := range strings.SplitSeq(readDeploy(t, name), "\n---\n") {
		var m manifest
		if err := yaml.Load([]byte(text), &m); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, m)
	}
	return all
}

// Three servers find each other by the names that Kubernetes gives them, and keep what one keeps where it keeps it.
func TestTheManifestsOfThreeServers(t *testing.T) {
	top := manifests(t, "kubernetes-three/kustomization.yaml")[0]
	if !slices.Equal(top.Resources, []string{"../kubernetes", "peers.yaml"}) || len(top.Patches) != 1 || top.Patches[0].Path != "bus.yaml" {
		t.Fatalf("it is made of %+v", top)
	}
	one, three, peers := manifests(t, "kubernetes/bus.yaml")[1], manifests(t, "kubernetes-three/bus.yaml")[0], manifests(t, "kubernetes-three/peers.yaml")
	if three.Kind != one.Kind || three.Metadata != one.Metadata || three.Spec.Replicas != 3 || three.Spec.ServiceName != peers[0].Metadata.Name {
		t.Errorf("the patch is of %+v", three)
	}
	if service := peers[0].Spec; service.ClusterIP != "None" || !service.PublishNotReadyAddresses {
		t.Errorf("servers find each other by %+v", service)
	}
	line := strings.Join(three.Spec.Template.Spec.Containers[0].Args, " ")
	checkFlags(t, "kubernetes-three/bus.yaml", "serve", line)
	for i := range 3 {
		if route := fmt.Sprintf("bus-%d.%s:6222", i, peers[0].Metadata.Name); !strings.Contains(line, route) {
			t.Errorf("there is no route to %s in %q", route, line)
		}
	}
	for _, want := range append(slices.DeleteFunc(slices.Clone(one.Spec.Template.Spec.Containers[0].Args), func(arg string) bool { return arg == "serve" }), "--name $(POD_NAME)", "--cluster-listen 0.0.0.0:6222") {
		if !strings.Contains(line, want) {
			t.Errorf("there is no %s in %q", want, line)
		}
	}
}

// Kubernetes' own validation has seen them (docs/FLEET-OPERATE.md): this is about what they start, and how they fit together.
func TestTheManifestsStartWhatThereIs(t *testing.T) {
	read := func(name string) []manifest { return manifests(t, "kubernetes/"+name) }
	known, slots := map[string]bool{}, ""
	figures := readDeploy(t, "../metrics/bus.go")
	top := read("kustomization.yaml")[0]
	for _, image := range top.Images {
		known[image.Name] = true
	}
	for _, name := range top.Resources {
		for _, m := range read(name) {
			for _, c := range m.Spec.Template.Spec.Containers {
				line := strings.Join(c.Args, " ")
				checkFlags(t, name, c.Args[0], line)
				if !known[c.Image] || m.Spec.Template.Spec.TerminationGracePeriodSeconds < 60 || !strings.Contains(line, "--token-file /run/secrets/token") {
					t.Errorf("%s has %+v", name, m)
				}
				// A server of three counts as away until it has caught up: before that, none of the others may be replaced.
				if want := map[string]string{"serve": "/readyz", "worker": "/healthz"}[c.Args[0]]; c.ReadinessProbe.HTTPGet.Path != want {
					t.Errorf("%s is ready by %q, want %q", name, c.ReadinessProbe.HTTPGet.Path, want)
				}
				if _, after, ok := strings.Cut(line, "--drain "); ok {
					text, _, _ := strings.Cut(after, " ")
					if drain, err := time.ParseDuration(text); err != nil || m.Spec.Template.Spec.TerminationGracePeriodSeconds < int(drain.Seconds())+60 {
						t.Errorf("%s: who ends it waits for %d s, and it drains for %s, %v", name, m.Spec.Template.Spec.TerminationGracePeriodSeconds, text, err)
					}
				}
				if _, after, ok := strings.Cut(line, "--slots "); ok {
					slots, _, _ = strings.Cut(after, " ")
				}
			}
			if pod := m.Spec.Template.Spec; len(pod.Containers) > 0 && pod.SecurityContext.SeccompProfile.Type != "RuntimeDefault" {
				t.Errorf("%s: a namespace with the pod security standard restricted refuses it", name)
			}
			for _, trigger := range m.Spec.Triggers {
				for _, metric := range regexp.MustCompile(`ralph_fleet_\w+`).FindAllString(trigger.Metadata.Query, -1) {
					if !strings.Contains(figures, `desc("`+strings.TrimPrefix(metric, "ralph_fleet_")+`"`) {
						t.Errorf("%s scales by %s, which the bus doesn't tell", name, metric)
					}
				}
				if m.Spec.ScaleTargetRef.Name != "worker" || trigger.Metadata.Threshold != slots || !strings.Contains(trigger.Metadata.Query, "sum(max by (priority) (ralph_fleet_queue_loops))") {
					t.Errorf("%s scales %+v, and a worker has %s slots", name, m.Spec, slots)
				}
			}
		}
	}
	if files, err := filepath.Glob(filepath.Join(deploy, "kubernetes", "*.yaml")); err != nil || len(files) != len(top.Resources)+1 {
		t.Errorf("of %v, the kustomization names %v", files, top.Resources)
	}
}

func TestTheSampleFileIsOneThatCounts(t *testing.T) {
	sample := readDeploy(t, config.FleetName)
	for _, text := range []string{sample, regexp.MustCompile(`(?m)^# ([a-z_]+ = )`).ReplaceAllString(sample, "$1")} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, config.FleetName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := config.LoadFleet(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range config.FleetKeys() { // whoever copies it sees what there is
			if name := strings.Join(key.Path, "."); key.Type != config.Table && text != sample && len(file[name]) == 0 {
				t.Errorf("fleet/deploy/fleet.toml doesn't show %s", name)
			}
		}
		for _, cmd := range []*cobra.Command{newServe(), newWorker(), newDoctor()} {
			if err := fillIn(cmd, file); err != nil {
				t.Errorf("%s: %v", cmd.Name(), err)
			}
		}
	}
}

// Each key of fleet.toml has a flag, or it would say nothing.
func TestEachKeyHasAFlag(t *testing.T) {
	used := map[string]bool{}
	for _, cmd := range []*cobra.Command{newServe(), newWorker(), newStatus()} {
		for _, key := range config.FleetKeys() {
			name := strings.Join(key.Path, ".")
			flag := key.Name()
			if flag == "labels" {
				flag = "label"
			}
			if f := cmd.Flags().Lookup(strings.ReplaceAll(flag, "_", "-")); f != nil && keyOf(cmd.Name(), f.Name) == name {
				used[name] = true
			}
		}
	}
	var out bytes.Buffer
	for _, key := range config.FleetKeys() {
		if name := strings.Join(key.Path, "."); key.Type != config.Table && !used[name] {
			out.WriteString(" " + name)
		}
	}
	if out.Len() > 0 {
		t.Errorf("no command has a flag for%s", out.String())
	}
}
