#!/usr/bin/env bash
# Official conformance tests that need no containers: conformance-names.txt, one name per line.
#   K8S_BIN  a folder with e2e.test and kubectl of release 1.33
#   NAMES    another list of names
#   PORT     default: 17443
. "$(dirname "$0")/lib.sh"
[ -x "${K8S_BIN:?set it to a folder with e2e.test and kubectl}/e2e.test" ] || die "$K8S_BIN/e2e.test is missing"
serve_cluster "${PORT:-17443}"
passed=0 failed=0
while IFS= read -r name <&3; do
  [ -n "$name" ] || continue
  log=$WORK/logs/conformance-$(printf %s "$name" | cksum | cut -d' ' -f1).log
  pattern=$(printf %s "$name" | sed 's/[][\.*^$()+?{}|\/]/\\&/g')
  SECONDS=0
  if timeout "${LIMIT:-420}" "$K8S_BIN/e2e.test" --provider=skeleton --kubeconfig="$KUBECONFIG_FILE" \
    --kubectl-path="$K8S_BIN/kubectl" --ginkgo.no-color --ginkgo.focus="$pattern\$" --allowed-not-ready-nodes=-1 \
    --minStartupPods=0 --dump-logs-on-failure=false --system-pods-startup-timeout=5s --node-schedulable-timeout=5s \
    >"$log" 2>&1 && grep -qE 'Ran [1-9][0-9]* of' "$log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed after ${SECONDS}s: $name ($log)"
  fi
done 3<"${NAMES:-$HERE/conformance-names.txt}"
echo "conformance: $((passed + failed)) tests, $passed passed, $failed failed"
[ "$failed" = 0 ]
