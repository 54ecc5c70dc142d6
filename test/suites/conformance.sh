#!/usr/bin/env bash
# Official conformance tests that need no containers: conformance-names.txt, one name per line. Two of them wait five minutes.
#   K8S_BIN  a folder with e2e.test and kubectl of release 1.33
#   NAMES    another list of names
#   PORT     default: 17443
. "$(dirname "$0")/lib.sh"
[ -x "${K8S_BIN:?set it to a folder with e2e.test and kubectl}/e2e.test" ] || die "$K8S_BIN/e2e.test is missing"
serve_cluster "${PORT:-17443}" --controllers ready --apply "$HERE/node.yaml"
names=${NAMES:-$HERE/conformance-names.txt}
log=$WORK/logs/conformance.log
focus=$(sed 's/[][\.*^$()+?{}|\/]/\\&/g; s/$/$/' "$names" | paste -sd '|')
timeout "${LIMIT:-7200}" "$K8S_BIN/e2e.test" --provider=skeleton --kubeconfig="$KUBECONFIG_FILE" \
  --kubectl-path="$K8S_BIN/kubectl" --ginkgo.no-color --ginkgo.v --ginkgo.timeout=2h --ginkgo.focus="$focus" \
  --allowed-not-ready-nodes=-1 --minStartupPods=0 --dump-logs-on-failure=false --system-pods-startup-timeout=5s \
  --node-schedulable-timeout=5s >"$log" 2>&1
summary=$(node "$HERE/summarize.mjs" "$log")
[ -n "$summary" ] || die "no result, see $log"
read -r passed failed <<<"$summary"
sed 1d <<<"$summary"
echo "conformance: $((passed + failed)) of $(grep -c . "$names") tests, $passed passed, $failed failed (log: $log)"
[ "$failed" = 0 ]
