package sandbox

// way is how something of the home is there behind walls.
type way string

const (
	// asItIs can be read.
	asItIs way = "read-only"
	// withoutLogins is a copy without the lines that logins may stand in.
	withoutLogins way = "a copy without logins"
	// ofTheFolder is a copy that the loop's folder has for itself behind walls: programs outside trust their own.
	ofTheFolder way = "the folder's own"
)

// need is what programs need of a home, which doesn't exist behind walls but for that.
type need struct {
	whose string
	way   way
	// paths begin with "~", or with "$NAME", which counts where the variable is set. A *
	// stands for anything in a name.
	paths []string
	// variable names a cache to programs, so that it can be elsewhere.
	variable string
}

// needs are the home's openings. Everything else is hidden, so the list never lacks a secret.
var needs = []need{
	{whose: "git", way: withoutLogins, paths: []string{"~/.gitconfig", "$XDG_CONFIG_HOME/git/config", "$GIT_CONFIG_GLOBAL"}},
	{whose: "git", way: asItIs, paths: []string{"$XDG_CONFIG_HOME/git/ignore", "$XDG_CONFIG_HOME/git/attributes"}},
	{whose: "certificates", way: asItIs, paths: []string{"$SSL_CERT_FILE", "$SSL_CERT_DIR", "$NODE_EXTRA_CA_CERTS",
		"$REQUESTS_CA_BUNDLE", "$CURL_CA_BUNDLE", "$GIT_SSL_CAINFO", "$NIX_SSL_CERT_FILE"}},
	{whose: "all", way: ofTheFolder, paths: []string{"$XDG_CACHE_HOME"}},
	{whose: "all", way: asItIs, paths: []string{"~/.local/bin", "~/.local/lib", "~/.editorconfig", "~/.terminfo",
		"~/.nix-profile", "$XDG_STATE_HOME/nix/profiles", "/home/linuxbrew", "$LOCALE_ARCHIVE"}},
	{whose: "asdf, mise", way: asItIs, paths: []string{"~/.asdf", "$ASDF_DIR", "$ASDF_DATA_DIR", "~/.asdfrc",
		"~/.tool-versions", "$XDG_DATA_HOME/mise", "$MISE_DATA_DIR"}},
	{whose: "asdf, mise", way: withoutLogins, paths: []string{"$XDG_CONFIG_HOME/mise/config.toml"}},

	{whose: "Go", way: asItIs, paths: []string{"$GOROOT", "~/sdk", "~/.goenv", "~/go/bin", "~/go/pkg/mod", "$GOPATH/bin",
		"$GOPATH/pkg/mod", "$GOBIN"}},
	{whose: "Go", way: withoutLogins, paths: []string{"$XDG_CONFIG_HOME/go/env"}},
	{whose: "Go", way: ofTheFolder, paths: []string{"~/.cache/go-build"}, variable: "GOCACHE"},
	{whose: "Go", way: ofTheFolder, paths: []string{"~/go/pkg/mod"}, variable: "GOMODCACHE"},

	{whose: "node", way: asItIs, paths: []string{"~/.nvm", "$NVM_DIR", "$XDG_DATA_HOME/fnm", "$FNM_DIR",
		"$XDG_STATE_HOME/fnm_multishells", "~/.volta/bin", "~/.volta/tools", "~/.n", "$N_PREFIX", "~/.nodenv",
		"$XDG_DATA_HOME/pnpm/global", "$XDG_DATA_HOME/pnpm/nodejs", "$PNPM_HOME", "~/.yarn/bin", "~/.yarn/releases",
		"$XDG_CONFIG_HOME/yarn/global", "~/.bun/bin", "~/.bun/install/global", "~/.deno/bin", "~/.npm-global", "~/.npm-packages",
		"~/node_modules", "~/.nvmrc", "~/.node-version"}},
	{whose: "node", way: withoutLogins, paths: []string{"~/.npmrc", "~/.yarnrc", "~/.yarnrc.yml", "~/.bunfig.toml",
		"$XDG_CONFIG_HOME/pnpm/rc", "$XDG_CONFIG_HOME/pnpm/config.yaml"}},
	{whose: "node", way: ofTheFolder, paths: []string{"~/.npm"}, variable: "npm_config_cache"},
	{whose: "node", way: ofTheFolder, paths: []string{"~/.yarn/berry", "~/.bun/install/cache", "$XDG_DATA_HOME/pnpm/store"}},

	{whose: "python", way: asItIs, paths: []string{"~/.pyenv", "$PYENV_ROOT", "$VIRTUAL_ENV", "$XDG_DATA_HOME/uv",
		"$XDG_DATA_HOME/pipx", "~/.local/pipx", "~/.virtualenvs", "~/.rye", "$XDG_DATA_HOME/virtualenv", "$XDG_DATA_HOME/pypoetry",
		"$XDG_DATA_HOME/hatch", "~/miniconda3", "~/anaconda3", "~/miniforge3", "~/mambaforge", "~/.conda/envs", "~/micromamba",
		"~/.pixi/bin", "~/.pixi/envs", "$CONDA_PREFIX", "~/.python-version"}},
	{whose: "python", way: withoutLogins, paths: []string{"$XDG_CONFIG_HOME/pip/pip.conf", "~/.pip/pip.conf",
		"$XDG_CONFIG_HOME/uv/uv.toml", "~/.condarc"}},
	{whose: "python", way: ofTheFolder, paths: []string{"~/.cache/pip"}, variable: "PIP_CACHE_DIR"},
	{whose: "python", way: ofTheFolder, paths: []string{"~/.cache/uv"}, variable: "UV_CACHE_DIR"},

	{whose: "Rust", way: asItIs, paths: []string{"~/.rustup", "$RUSTUP_HOME", "~/.cargo/bin", "$CARGO_HOME/bin", "~/.cargo/env"}},
	{whose: "Rust", way: withoutLogins, paths: []string{"~/.cargo/config.toml", "~/.cargo/config", "$CARGO_HOME/config.toml"}},
	{whose: "Rust", way: ofTheFolder, paths: []string{"~/.cargo/registry", "~/.cargo/git"}},

	{whose: "Java", way: asItIs, paths: []string{"$JAVA_HOME", "~/.sdkman", "$SDKMAN_DIR", "~/.jenv", "~/.jdks",
		"~/.m2/toolchains.xml", "$ANDROID_HOME", "~/Android/Sdk"}},
	{whose: "Java", way: withoutLogins, paths: []string{"~/.m2/settings.xml", "~/.m2/extensions.xml"}},
	{whose: "Java", way: ofTheFolder, paths: []string{"~/.m2/repository", "~/.m2/wrapper", "~/.gradle", "~/.ivy2", "~/.sbt"}},

	{whose: "other languages", way: asItIs, paths: []string{"~/.rbenv", "$RBENV_ROOT", "~/.rvm", "$GEM_HOME", "~/.gem/ruby",
		"$XDG_DATA_HOME/gem", "~/.composer/vendor", "$XDG_CONFIG_HOME/composer/vendor", "~/.dotnet", "$DOTNET_ROOT",
		"~/.mix/archives", "~/.mix/elixir", "~/.ghcup", "~/.cabal/bin", "~/.juliaup", "~/.julia/juliaup", "~/.opam", "~/.swiftly",
		"~/.luarocks/bin", "~/.luarocks/lib", "~/.luarocks/share", "~/.pub-cache/bin", "~/flutter"}},
	{whose: "other languages", way: ofTheFolder, paths: []string{"~/.nuget", "~/.hex/packages", "~/.cabal/packages", "~/.pub-cache/hosted"}},
	{whose: "browsers of tests", way: asItIs, paths: []string{"$XDG_CACHE_HOME/ms-playwright", "$XDG_CACHE_HOME/puppeteer",
		"$XDG_CACHE_HOME/Cypress"}},
}

// usual is where a variable leads that isn't set.
var usual = map[string]string{
	"XDG_CONFIG_HOME": "~/.config", "XDG_DATA_HOME": "~/.local/share", "XDG_STATE_HOME": "~/.local/state", "XDG_CACHE_HOME": "~/.cache",
}

// managers are folders that a program below them needs as a whole, wherever they are.
var managers = []string{".pyenv", ".asdf", ".nvm", ".rbenv", ".nodenv", ".goenv", ".jenv", ".sdkman", ".rustup", ".volta", ".linuxbrew"}

// beside are the folders next to one with programs that these need.
var beside = []string{"lib", "lib64", "libexec", "share", "include", "boot", "conf", "jmods"}

// othersHomes doesn't exist inside, either: an agent with root's rights could read it.
var othersHomes = []string{"/root", "/home", "/Users"}

// system is no home: without it nothing runs.
var system = []string{"/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/proc", "/sbin", "/sys", "/usr"}

// managed are folders that the system and its packages look after.
var managed = []string{"/opt", "/run", "/snap", "/var"}

// secrets are hidden even where a folder around them is open.
var secrets = []string{
	"~/.ssh", "~/.aws", "~/.gnupg", "~/.netrc", "~/.git-credentials", "~/.azure", "~/.kube", "~/.docker", "~/.password-store",
	"~/.pgpass", "~/.my.cnf", "~/.vault-token", "~/.terraform.d",
	"~/.config/git/credentials", "~/.config/gcloud", "~/.config/gh", "~/.config/glab-cli", "~/.config/hub", "~/.config/op",
	"~/.config/sops", "~/.config/rclone", "~/.config/containers", "~/.config/google-chrome", "~/.config/chromium", "~/.config/ralph-lsp",
	"~/.local/share/keyrings", "~/.local/share/kwalletd", "~/.volta/credentials", "~/.rvm/credentials", "~/.cargo/credentials",
	"~/.cargo/credentials.toml", "~/.m2/settings-security.xml", "~/.gem/credentials", "~/.mozilla", "~/snap", "~/.var/app",
}
