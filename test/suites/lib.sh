# Functions that the suites share. Variables, all optional:
#   WORK       a folder for sources, test binaries and logs; default: a folder in the user's cache
#   ORCHPLANE  the file of the orchplane command; default: the build of this checkout
#   REAL_ASSETS  run an envtest suite on these binaries instead (the reference)
#   LIMIT      seconds for one test program
set -uo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORK=${WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/orchplane-suites}
ORCHPLANE=${ORCHPLANE:-$HERE/../../dist/node/cli.js}
mkdir -p "$WORK/bin" "$WORK/logs"

die() {
  echo "$*" >&2
  exit 2
}

[ -f "$ORCHPLANE" ] || die "$ORCHPLANE is missing: run \"npm run build\""

# module_source NAME MODULE@VERSION: a writable copy of a Go module. SRC names an existing checkout instead.
module_source() {
  local target=$WORK/$1
  if [ -n "${SRC:-}" ]; then
    echo "$SRC"
    return
  fi
  if [ ! -d "$target" ]; then
    local from
    from=$(cd "$WORK" && GOFLAGS=-mod=mod go mod download -json "$2" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    [ -d "$from" ] || die "the Go proxy does not have $2; set SRC to a checkout of it"
    cp -r "$from" "$target"
    chmod -R u+w "$target"
    # The Go proxy does not keep the mode of files.
    find "$target" -name "*.sh" -exec chmod +x {} +
  fi
  echo "$target"
}

# envtest_assets: the folder for KUBEBUILDER_ASSETS.
envtest_assets() {
  if [ -n "${REAL_ASSETS:-}" ]; then
    echo "$REAL_ASSETS"
    return
  fi
  node "$ORCHPLANE" envtest "$WORK/assets" >/dev/null || exit 2
  echo "$WORK/assets"
}

# run_packages NAME SOURCE PACKAGE...: builds and runs the tests of packages, prints a line for each and a sum.
run_packages() {
  local name=$1 source=$2 assets package binary log summary passed failed
  shift 2
  assets=$(envtest_assets) || exit 2
  local sum_passed=0 sum_failed=0 broken=0
  for package in "$@"; do
    binary=$WORK/bin/$name-${package//\//_}
    log=$WORK/logs/$name-${package//\//_}.log
    if ! (cd "$source" && CGO_ENABLED=0 go test -c -vet=off -o "$binary" "./$package" >"$log" 2>&1); then
      echo "$package: does not build, see $log"
      broken=$((broken + 1))
      continue
    fi
    SECONDS=0
    (cd "$source/$package" && KUBEBUILDER_ASSETS=$assets timeout "${LIMIT:-1200}" "$binary" -test.v >"$log" 2>&1)
    summary=$(node "$HERE/summarize.mjs" "$log")
    if [ -z "$summary" ]; then
      echo "$package: no result, see $log"
      broken=$((broken + 1))
      continue
    fi
    read -r passed failed <<<"$summary"
    echo "$package: $((passed + failed)) tests, $passed passed, $failed failed, ${SECONDS}s"
    sed 1d <<<"$summary"
    sum_passed=$((sum_passed + passed))
    sum_failed=$((sum_failed + failed))
  done
  echo "$name: $((sum_passed + sum_failed)) tests, $sum_passed passed, $sum_failed failed, $broken packages without a result"
  [ "$sum_failed" = 0 ] && [ "$broken" = 0 ]
}

# report NAME LOG: prints the results in a log. The exit code is that of the suite.
report() {
  local summary passed failed
  summary=$(node "$HERE/summarize.mjs" "$2")
  [ -n "$summary" ] || die "no result, see $2"
  read -r passed failed <<<"$summary"
  sed 1d <<<"$summary"
  echo "$1: $((passed + failed)) tests, $passed passed, $failed failed, ${SECONDS}s (log: $2)"
  [ "$failed" = 0 ]
}

# serve_cluster PORT [FLAG...]: serves a cluster; sets KUBECONFIG_FILE. Ends with the script.
serve_cluster() {
  local port=$1
  shift
  KUBECONFIG_FILE=$WORK/kubeconfig-$port
  rm -f "$KUBECONFIG_FILE"
  node "$ORCHPLANE" serve --port "$port" --token admin-token --kubeconfig "$KUBECONFIG_FILE" "$@" \
    >"$WORK/logs/serve-$port.log" 2>&1 &
  SERVER=$!
  trap 'kill $SERVER 2>/dev/null' EXIT
  for _ in $(seq 100); do
    curl -sk -H "Authorization: Bearer admin-token" "https://127.0.0.1:$port/readyz" | grep -q ok && return
    sleep 0.2
  done
  cat "$WORK/logs/serve-$port.log" >&2
  exit 2
}
