#!/usr/bin/env bash
# kubectl's own test suite (test/cmd of Kubernetes).
#   K8S_SRC  the sources of Kubernetes 1.33
#   K8S_BIN  a folder with kubectl of the same release
#   WHAT     only these cases, such as "crd deprecated_api"
#   PORT     default: 17444
. "$(dirname "$0")/lib.sh"
[ -f "${K8S_SRC:?set it to the sources of Kubernetes}/test/cmd/legacy-script.sh" ] || die "$K8S_SRC has no test/cmd"
[ -x "${K8S_BIN:?set it to a folder with kubectl}/kubectl" ] || die "$K8S_BIN/kubectl is missing"
PORT=${PORT:-17444}
export TMPDIR=$WORK/kubectl
mkdir -p "$TMPDIR/reports"
# The flags of hack/make-rules/test-cmd.sh, for the server and its controllers. Two cases read the certificate of the server from the folder for temporary files.
serve_cluster "$PORT" --controllers standard --cert-dir "$TMPDIR" --authorization-mode RBAC,AlwaysAllow \
  --enable-admission-plugins LimitRanger,ResourceQuota --disable-admission-plugins \
  DefaultStorageClass,DefaultTolerationSeconds,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,StorageObjectInUseProtection \
  --service-cluster-ip-range 10.0.0.0/24 --client-ca-file "$K8S_SRC/hack/testdata/ca/ca.crt" \
  --cluster-signing-cert-file "$K8S_SRC/hack/testdata/ca/ca.crt" --cluster-signing-key-file "$K8S_SRC/hack/testdata/ca/ca.key"
if [ ! -x "$K8S_BIN/kubectl-convert" ] && [ ! -x "$WORK/bin/kubectl-convert" ]; then
  (cd "$K8S_SRC" && CGO_ENABLED=0 go build -o "$WORK/bin/kubectl-convert" ./cmd/kubectl-convert) || exit 2
fi
log=$WORK/logs/kubectl.log
(
  set +u
  cd "$K8S_SRC" || exit 2
  export KUBE_ROOT=$K8S_SRC ALLOW_SKEW=1 SECURE_API_PORT=$PORT KUBE_JUNIT_REPORT_DIR=$TMPDIR/reports
  KUBE_VERBOSE=1
  source hack/lib/init.sh
  export THIS_PLATFORM_BIN=$K8S_BIN
  source hack/lib/test.sh
  source test/cmd/legacy-script.sh
  set +o errexit
  kube::util::ensure-temp-dir
  HOME=$KUBE_TEMP
  unset KUBECONFIG
  kube::util::ensure-gnu-sed
  CONTEXT=test
  export PATH=$K8S_BIN:$WORK/bin:$PATH
  kubectl config set-credentials test-admin --token admin-token
  kubectl config set-cluster local --insecure-skip-tls-verify --server "https://127.0.0.1:$PORT"
  kubectl config set-context "$CONTEXT" --user test-admin --cluster local
  kubectl config use-context "$CONTEXT"
  kubectl create -f - <<<'{"kind":"Node","apiVersion":"v1","metadata":{"name":"127.0.0.1","annotations":{"save-managers":"true"}},"status":{"capacity":{"memory":"1Gi"}}}'
  export SUPPORTED_RESOURCES=('*')
  set -o errexit
  runTests
) >"$log" 2>&1
# A line may begin with escapes of colours. The canary fails on purpose.
results=$(sed 's/\x1b\[[0-9;]*m//g; s/\x1b(B//g' "$log" |
  awk '/^\+\+\+ command: /{name=$3} /^\+\+\+ exit code: /{print $4, name}' | grep -v record_command_canary)
failed=$(grep -c '^[1-9]' <<<"$results")
passed=$(grep -c '^0' <<<"$results")
sed -n 's/^[1-9][0-9]* \(.*\)/  [FAIL] \1/p' <<<"$results"
echo "kubectl: $((passed + failed)) tests, $passed passed, $failed failed (log: $log)"
[ "$passed" -gt 0 ] && [ "$failed" = 0 ]
