package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// tempDirs are empty inside: sockets of services, of the desktop and of other programs are there.
var tempDirs = []string{"/tmp", "/run", "/dev/shm"}

// openings of rooms stay: how names are resolved, and where NixOS has its programs.
var openings = []string{"/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf",
	"/run/NetworkManager/resolv.conf", "/run/resolvconf", "/run/current-system", "/run/opengl-driver"}

// guardedDirs are made in the folder where they are missing, read-only for the agent, so that it can't make them.
var guardedDirs = []string{".vscode"}

// common are the variables that everybody gets.
var common = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLORTERM",
	"TERM_PROGRAM", "NO_COLOR", "FORCE_COLOR", "CI", "COLUMNS", "LINES",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NIX_SSL_CERT_FILE",
	"GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GOPATH", "GOROOT",
	"GOBIN", "GOPROXY", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN", "GOOS", "GOARCH", "CGO_*", "CC", "CXX", "CFLAGS", "CXXFLAGS",
	"LDFLAGS", "PKG_CONFIG_PATH",
	"NVM_*", "FNM_*", "VOLTA_HOME", "N_PREFIX", "ASDF_*", "MISE_*", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_*", "RBENV_ROOT",
	"GEM_HOME", "GEM_PATH", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "JAVA_HOME", "SDKMAN_DIR", "ANDROID_HOME",
	"DOTNET_ROOT", "BUN_INSTALL", "DENO_DIR", "PNPM_HOME",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "NIX_PATH", "NIX_PROFILES", "LOCALE_ARCHIVE",
	"RALPH_LOOP_ID", "RALPH_ITERATION", "RALPH_SPOOL",
}

// hidden lists what doesn't exist behind the walls, without links.
func (w *site) hidden() []string {
	hidden := slices.Concat(secrets, w.spec.Secrets, w.spec.Hide)
	for _, name := range []string{"token", "bus"} { // with these, any worker can be made to run anything
		if path, err := paths.Fleet(name); err == nil {
			hidden = append(hidden, path)
		}
	}
	var paths []string
	for _, path := range hidden {
		if strings.HasPrefix(path, "~") && w.home == "" {
			continue
		}
		if path = w.expand(path); exists(path) && (w.there == nil || !w.there.isClosed(path)) {
			paths = append(paths, path)
		}
	}
	for _, socket := range []string{"SSH_AUTH_SOCK", "DOCKER_HOST"} {
		if path := real(strings.TrimPrefix(os.Getenv(socket), "unix://")); filepath.IsAbs(path) && exists(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// environ returns the variables of env that pass: everybody's, the agent's own, and those that the user names.
func (w *site) environ(env []string, run Run) []string {
	names := slices.Concat(common, run.Agent.Env, w.spec.Env)
	return slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.ContainsFunc(names, func(want string) bool {
			begin, isOpen := strings.CutSuffix(want, "*")
			return name == want || isOpen && strings.HasPrefix(name, begin)
		})
	})
}

// isHidden says whether a path, which has no links, is kept from being seen.
func (w *site) isHidden(path string) bool {
	return w.there != nil && w.there.isClosed(path) || withinAny(path, w.hidden())
}
