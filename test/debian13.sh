#!/usr/bin/env bash
# Proves the gateway on Debian 13 with Node.js 24, where the newer build of the HTTP front end loads: clean clone,
# npm ci, quick start, one upload, one download, twenty more on two event loops. By hand, as root, with network; takes some minutes:
#
#   test/debian13.sh
#
# Everything happens in a temporary folder and in namespaces of its own, so that nothing stays mounted or running.
set -euo pipefail

NODE_MAJOR=24
SUITE=trixie
WANTED_BUILD=20.69
PORT=${PORT:-18013}

# The machine's npm may speak of settings of its own; only its errors matter here.
export npm_config_loglevel=error

project=$(cd "$(dirname "$0")/.." && pwd)

fail() {
  echo "debian13: $*" >&2
  exit 1
}

step() {
  echo "== $* (after $SECONDS s)"
}

[ "$(id -u)" = 0 ] || fail 'needs root, for debootstrap and chroot'

if [ "${1:-}" != --inside ]; then
  if ! command -v debootstrap >/dev/null; then
    step 'installing debootstrap'
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
  fi
  folder=$(mktemp -d)
  trap 'rm -rf --one-file-system "$folder"' EXIT
  # With the process id namespace every process of the chroot ends with the script, with the other one every mount.
  unshare --mount --pid --fork --kill-child "$0" --inside "$folder"
  exit
fi

folder=$2
root=$folder/root

step "Debian $SUITE"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
[ -n "$mirror" ] || fail 'apt knows no Debian archive on this system: run apt-get update, or add one to its sources'
proxy=$(apt-config dump --format '%v' Acquire::http::Proxy)
[ -z "$proxy" ] || export http_proxy=$proxy
debootstrap --variant=minbase "$SUITE" "$root" "$mirror" >"$folder/debootstrap.log" 2>&1 ||
  { tail -n 20 "$folder/debootstrap.log"; fail 'debootstrap failed'; }
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/dev" || mount --rbind /dev "$root/dev"
[ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$root/etc/resolv.conf"
[ ! -e /etc/hosts ] || cp -L /etc/hosts "$root/etc/hosts"

step "Node.js $NODE_MAJOR from the registry"
architecture=$(node -p process.arch)
version=$(npm view --json "node@$NODE_MAJOR" version | tr -d '[]", ' | sort -V | tail -n 1)
npm install --no-save --no-audit --no-fund --prefix "$root/opt/node" "node-linux-$architecture@$version" "npm@$(npm --version)" >/dev/null

# The machine's own certificates and registry; everything else of its npm settings speaks of another system.
certificates=${NODE_EXTRA_CA_CERTS:-$(npm config get cafile)}
mkdir -p "$root/etc/ssl/certs"
if [ -r "$certificates" ]; then cp -L "$certificates" "$root/etc/ssl/certs/machine.crt"; fi

inside() {
  env -i HOME=/root TERM=dumb \
    PATH="/opt/node/node_modules/node-linux-$architecture/bin:/opt/node/node_modules/.bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    NODE_EXTRA_CA_CERTS="$([ ! -e "$root/etc/ssl/certs/machine.crt" ] || echo /etc/ssl/certs/machine.crt)" \
    npm_config_registry="$(npm config get registry)" \
    PORT="$PORT" \
    chroot "$root" "$@"
}
inside node -e 'const { glibcVersionRuntime } = process.report.getReport().header;
  console.log(`Node.js ${process.version}, glibc ${glibcVersionRuntime}`)'

step 'clean clone, npm ci'
git clone --quiet --no-hardlinks "file://$project" "$root/srv/gateway"
inside sh -c 'cd /srv/gateway && npm ci --no-audit --no-fund' >"$folder/npm-ci.log" 2>&1 ||
  { tail -n 40 "$folder/npm-ci.log"; fail 'npm ci failed'; }
grep -E '^npm (warn|error)' "$folder/npm-ci.log" || true

step 'quick start'
log=$folder/gateway.log
inside sh -c 'cd /srv/gateway && echo $$ >/srv/pid && exec node --max-semi-space-size=8 --no-incremental-marking dist/bundle/main.js' >"$log" 2>&1 &
gateway=$!
for _ in $(seq 300); do
  if grep -q 'API key' "$log" || ! kill -0 "$gateway" 2>/dev/null; then break; fi
  sleep 0.1
done
key=$(sed -nE 's/.*API key +(ftg_[^ ]+).*/\1/p' "$log" | head -n 1)
[ -n "$key" ] || { cat "$log"; fail 'the gateway did not start'; }

build=$(grep -oE '@uwsjs/[a-z0-9-]+@[0-9.]+' "$log" | head -n 1)
echo "HTTP front end: $build"
case $build in
  *"@$WANTED_BUILD"*) ;;
  *) grep listening "$log"; fail "wanted build $WANTED_BUILD" ;;
esac
if grep -q 'native crypto of ssh2 is not built' "$log"; then
  echo 'ssh2: no native binding (minbase has no compiler), it works without'
else
  echo 'ssh2: native binding built'
fi

step 'one upload, one download'
api=http://127.0.0.1:$PORT/api
head -c 5000000 /dev/urandom >"$folder/sent.bin"
curl -fsS -H "Authorization: Bearer $key" -F "file=@$folder/sent.bin" "$api/upload/sandbox"
echo
curl -fsS -H "Authorization: Bearer $key" -o "$folder/received.bin" "$api/download/sandbox?path=/sent.bin"
cmp "$folder/sent.bin" "$folder/received.bin" || fail 'the download is not what was uploaded'
echo 'the download is the upload, byte for byte'

step 'stop'
kill -TERM "$(cat "$root/srv/pid")"
wait "$gateway" || fail "the gateway ended with status $?"
if grep -i 'NodeVersionSupportWarning' "$log"; then fail 'the AWS SDK warns'; fi

step 'two event loops on one port'
key=ftg_two-loops-0123456789-abcdefghij
cat >"$root/srv/two.yaml" <<EOF
server: { threads: 2 }
dataDir: /srv/two
sandbox: true
accounts:
  - { email: two@example.com, plan: pro, apiKeys: [{ name: two, key: $key }] }
EOF
inside sh -c 'cd /srv/gateway && echo $$ >/srv/pid &&
  GATEWAY_CONFIG=/srv/two.yaml exec node --max-semi-space-size=8 --no-incremental-marking dist/bundle/main.js' >"$log" 2>&1 &
gateway=$!
for _ in $(seq 300); do
  if curl -fsS -o "$folder/ready" "http://127.0.0.1:$PORT/readyz" 2>/dev/null || ! kill -0 "$gateway" 2>/dev/null; then break; fi
  sleep 0.1
done
for number in $(seq 20); do
  # Each curl is a connection of its own, and goes to the next loop.
  curl -fsS -H "Authorization: Bearer $key" -F "file=@$folder/sent.bin;filename=$number.bin" -o "$folder/answer" "$api/upload/sandbox"
  curl -fsS -H "Authorization: Bearer $key" -o "$folder/received.bin" "$api/download/sandbox?path=/$number.bin"
  cmp "$folder/sent.bin" "$folder/received.bin" || fail "download $number is not what was uploaded"
done
kill -TERM "$(cat "$root/srv/pid")"
wait "$gateway" || { cat "$log"; fail "the gateway of two loops ended with status $?"; }
echo "passed in $SECONDS s"
