#!/bin/sh
# make e2e-openclaw: installs the node, then runs the tests of this package in an empty network namespace.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
cache=${ERRAND_OPENCLAW_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/errand/openclaw-2026.9.6}
sh "$here/tests/openclaw/install.sh" "$cache" || {
  code=$?
  [ $code -eq 3 ] && { echo "SKIPPED: e2e-openclaw needs npm, which cannot be reached from here"; exit 0; }
  exit $code
}
unshare -rn true 2>/dev/null || { echo "SKIPPED: e2e-openclaw needs a network namespace of its own, which unshare -rn cannot make here"; exit 0; }
test=$(mktemp)
trap 'rm -f "$test"' EXIT
cd "$here" && go test -c -o "$test" ./tests/openclaw
cd "$here/tests/openclaw"
ERRAND_TEST_OPENCLAW=$cache unshare -rn sh -c 'ip link set lo up && exec "$0" "$@"' "$test" -test.v -test.count=1 -test.timeout 20m "$@"
