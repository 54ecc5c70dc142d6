#!/usr/bin/env bash
# kubectl's own test suite (test/cmd of Kubernetes).
#   K8S_SRC  the sources of Kubernetes 1.33
#   K8S_BIN  a folder with kubectl of the same release
#   PORT     default: 17444
. "$(dirname "$0")/lib.sh"
[ -f "${K8S_SRC:?set it to the sources of Kubernetes}/test/cmd/legacy-script.sh" ] || die "$K8S_SRC has no test/cmd"
[ -x "${K8S_BIN:?set it to a folder with kubectl}/kubectl" ] || die "$K8S_BIN/kubectl is missing"
PORT=${PORT:-17444}
CONTROLLERS=standard serve_cluster "$PORT"
reports=$WORK/kubectl-reports
rm -rf "$reports"
mkdir -p "$reports"
(
  set +u
  cd "$K8S_SRC" || exit 2
  export KUBE_ROOT=$K8S_SRC THIS_PLATFORM_BIN=$K8S_BIN ALLOW_SKEW=1 SECURE_API_PORT=$PORT KUBE_JUNIT_REPORT_DIR=$reports
  KUBE_VERBOSE=1
  source hack/lib/init.sh
  source hack/lib/test.sh
  source test/cmd/legacy-script.sh
  set +o errexit
  kube::util::ensure-temp-dir
  HOME=$KUBE_TEMP
  unset KUBECONFIG
  kube::util::ensure-gnu-sed
  CONTEXT=test
  export PATH=$K8S_BIN:$PATH
  kubectl config set-credentials test-admin --token admin-token
  kubectl config set-cluster local --insecure-skip-tls-verify --server "https://127.0.0.1:$PORT"
  kubectl config set-context "$CONTEXT" --user test-admin --cluster local
  kubectl config use-context "$CONTEXT"
  kubectl create -f - <<<'{"kind":"Node","apiVersion":"v1","metadata":{"name":"127.0.0.1","annotations":{"save-managers":"true"}},"status":{"capacity":{"memory":"1Gi"}}}'
  export SUPPORTED_RESOURCES=('*')
  set -o errexit
  runTests
) >"$WORK/logs/kubectl.log" 2>&1
reported=$(cat "$reports"/*.xml)
total=$(grep -o '<testcase ' <<<"$reported" | wc -l)
failed=$(grep -o '<failure' <<<"$reported" | wc -l)
grep -aE '^(FAILED TESTS|!!! Error|\+\+\+ \[.*\] .*FAIL)' "$WORK/logs/kubectl.log" | sort -u | head -40
echo "kubectl: $total tests, $((total - failed)) passed, $failed failed (log: $WORK/logs/kubectl.log)"
[ "$total" -gt 0 ] && [ "$failed" = 0 ]
