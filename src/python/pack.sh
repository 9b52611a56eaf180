#!/bin/sh
# Packs the Python client as a wheel without network access: `sh src/python/pack.sh [folder]`. Needs hatchling and `npm ci`.
set -eu
out=${1:-dist/packages}
mkdir -p "$out"
out=$(cd "$out" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
# Generates the types and the synchronous client.
node "$root/build.js" clients
# The wheel needs the project's licence beside its pyproject.toml.
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/src"
cp -R "$root/src/python" "$stage/src/python"
cp "$root/package.json" "$stage/"
cp "$root/LICENSE" "$stage/src/python/"
cd "$stage/src/python"
"${PYTHON:-python3}" -m hatchling build -t wheel -d "$out"
