#!/usr/bin/env bash
# Runs the tests in the extension host of one version: run.sh 1.139
# RALPH_LSP names the sidecar, RALPH_EDITORS_CACHE where get-vscode.sh put the editor.
set -euo pipefail
cd "$(dirname "$0")/../.."
workspace=$(mktemp -d)
trap 'rm -rf "$workspace"' EXIT
two='c++ (x) & é' # Go and VS Code encode that differently
mkdir "$workspace/one" "$workspace/$two" "$workspace/repository"
git -C "$workspace/repository" init -q
echo '{"folders":[{"path":"one"},{"path":"'"$two"'"},{"path":"repository"}]}' >"$workspace/both.code-workspace"
# On the web VS Code saves by itself what is edited, on the desktop it doesn't. A transcript that opens
# by itself comes when the server has told of its loop: it would cover what a test has opened meanwhile.
AGENT_PACE_MS=20 node ../../tools/editors/vscode-host-tests.mjs --vscode "$1" --extension . --tests test/host/index.cjs \
  --out "out/host-$1" --workspace "$workspace/both.code-workspace" --programs test/agent --settings '{"files.autoSave":"off","ralph.transcript.openOnStart":false,"ralph.transcript.openIn":"editor"}' \
  --machine "{\"ralph.server.path\":\"$RALPH_LSP\",\"typescript.tsdk\":\"$PWD/node_modules/typescript-server/lib\"}"
