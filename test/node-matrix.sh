#!/usr/bin/env bash
# Proves `npm ci && npm start` and a first upload on this system with each Node.js that is promised, with a compiler and
# without. By hand, with network; takes some minutes:
#
#   test/node-matrix.sh [major ...]        # 20 22 24 26
#
# Everything happens in a temporary folder. test/debian13.sh does the same in a newer Debian, where newer builds load.
set -euo pipefail

majors=${*:-20 22 24 26}
project=$(cd "$(dirname "$0")/.." && pwd)
architecture=$(node -p process.arch)
folder=$(mktemp -d)
# The embedded database does not run as root, and has to reach its folder.
chmod 755 "$folder"
gateway=
finish() {
  if [ -n "$gateway" ]; then kill "$gateway" 2>/dev/null && wait "$gateway" 2>/dev/null || true; fi
  rm -rf --one-file-system "$folder"
}
trap finish EXIT

export npm_config_loglevel=warn npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false

fail() {
  echo "node-matrix: $*" >&2
  exit 1
}

# $1: where it is; installs that Node.js, its headers, and this machine's npm beside it.
install_node() {
  mkdir -p "$1"
  version=$(npm view --json "node@$2" version | tr -d '[]", ' | sort -V | tail -n 1)
  npm install --no-save --prefix "$1" "node-linux-$architecture@$version" "npm@$(npm --version)" >/dev/null
}

try() {
  local major=$1 compiler=$2
  local node=$folder/node$major clone=$folder/$major-$compiler
  local bin=$node/node_modules/node-linux-$architecture
  [ -d "$node" ] || install_node "$node" "$major"
  export PATH=$bin/bin:$node/node_modules/.bin:$system_path
  # Headers of this very version lie in its package.
  export npm_config_nodedir=$bin
  if [ "$compiler" = without ]; then export npm_config_python=/bin/false CC=/bin/false CXX=/bin/false; else unset npm_config_python CC CXX; fi
  git clone --quiet --no-hardlinks "file://$project" "$clone"
  cd "$clone"
  local started=$SECONDS
  npm ci >"$clone.npm" 2>&1 || { tail -n 40 "$clone.npm"; fail "npm ci failed on Node.js $major"; }
  local took=$((SECONDS - started))
  if grep -E 'EBADENGINE' "$clone.npm"; then fail "npm says that Node.js $major is not supported, which is promised"; fi
  local port
  port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
  started=$SECONDS
  PORT=$port npm start >"$clone.log" 2>&1 &
  gateway=$!
  for _ in $(seq 600); do
    if grep -q 'API key' "$clone.log" || ! kill -0 "$gateway" 2>/dev/null; then break; fi
    sleep 0.1
  done
  local key
  key=$(sed -nE 's/.*API key +(ftg_[^ ]+).*/\1/p' "$clone.log" | head -n 1)
  [ -n "$key" ] || { cat "$clone.log"; fail "no start on Node.js $major"; }
  local ready=$((SECONDS - started))
  head -c 3000000 /dev/urandom >"$folder/sent.bin"
  curl -fsS -o "$folder/answer" -H "Authorization: Bearer $key" -F "file=@$folder/sent.bin" "http://127.0.0.1:$port/api/upload/sandbox"
  curl -fsS -o "$folder/received.bin" -H "Authorization: Bearer $key" "http://127.0.0.1:$port/api/download/sandbox?path=/sent.bin"
  cmp "$folder/sent.bin" "$folder/received.bin" || fail "the download on Node.js $major is not what was uploaded"
  # npm is the parent: the gateway itself gets the signal.
  kill -TERM "$(sed -nE 's/.*"pid":([0-9]+).*"msg":"listening".*/\1/p' "$clone.log" | head -n 1)"
  wait "$gateway" || { cat "$clone.log"; fail "the gateway ended with status $? on Node.js $major"; }
  gateway=
  local front crypto
  front=$(sed -nE 's/.*"build":"([^"]+)".*/\1/p' "$clone.log" | head -n 1)
  crypto=native
  if grep -q 'native crypto of ssh2 is not built' "$clone.log"; then crypto=JavaScript; fi
  printf '%-10s %-8s %-34s ssh2 %-11s npm ci %3d s  start %2d s\n' "$(node --version)" "$compiler" "$front" "$crypto" "$took" "$ready"
  cd "$folder"
  rm -rf "$clone"
}

system_path=$PATH
ldd --version | head -n 1
for major in $majors; do
  for compiler in with without; do try "$major" "$compiler"; done
done
echo "passed in $SECONDS s"
