#!/usr/bin/env bash
# Makes the editors' packages of a release, in dist/: a .vsix for each platform, and what Neovim's managers take.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rm -rf editors/vscode/out/packages
(cd editors/vscode && node scripts/package.mjs --all >/dev/null)
cp editors/vscode/out/packages/*.vsix dist/

# A repository of its own: plugin managers want the plugin at the top. tree/ is what a mirror has, as a commit.
name=ralph.nvim-$RELEASE_VERSION tree=.cache/tools/release/ralph.nvim-$RELEASE_VERSION
rm -rf "$tree"; mkdir -p "$tree"
cp -r editors/nvim/{README.md,doc,ftplugin,lua,pictures,plugin,syntax} LICENSE "$tree"
printf '/node_modules\n/doc/tags\n' >"$tree/.gitignore"
sed -i 's|(\.\./\.\./|(https://github.com/ralph-lsp/ralph-lsp/blob/main/|g' "$tree/README.md"
find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
tar -C .cache/release --sort=name --owner=0 --group=0 --numeric-owner --mode=go-w --format=gnu -cf - "$name" | gzip -9n >"dist/$name.tar.gz"

# LuaRocks knows no dashes in a version.
rock=${RELEASE_VERSION//-/.}
sed "s/@VERSION@/$RELEASE_VERSION/g; s/@ROCK@/$rock/g" tools/release/ralph.nvim.rockspec >"dist/ralph.nvim-$rock-1.rockspec"
sed "s/@VERSION@/$RELEASE_VERSION/g" tools/release/mason.yaml >dist/mason.yaml
