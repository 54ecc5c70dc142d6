#!/usr/bin/env bash
# kube-rs: the tests of its crates that need a cluster, as its justfile runs them, and its examples. Left out are the examples
# that need no cluster, and those that need a running container or a kubelet: log_stream, pod_attach, pod_cp, pod_exec,
# pod_log_kubelet_debug, pod_portforward, pod_portforward_bind, pod_portforward_hyper_http, pod_shell, pod_shell_crossterm,
# request_raw.
#   SRC      a checkout of kube-rs
#   K8S_BIN  a folder with kubectl; without it the example admission_controller is left out
#   PORT     default: 17447
. "$(dirname "$0")/lib.sh"
[ -f "${SRC:?set it to a checkout of kube-rs}/examples/Cargo.toml" ] || die "$SRC has no examples"
# WatchList as in the clusters of its justfile. One test sends no token and expects a kubeconfig with a client certificate.
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=ca -keyout "$WORK/ca.key" -out "$WORK/ca.crt" 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj /O=system:masters/CN=admin -keyout "$WORK/admin.key" -out "$WORK/admin.csr" 2>/dev/null
openssl x509 -req -in "$WORK/admin.csr" -CA "$WORK/ca.crt" -CAkey "$WORK/ca.key" -CAcreateserial -days 30 -out "$WORK/admin.crt" \
  -extfile <(echo extendedKeyUsage=clientAuth) 2>/dev/null || die "openssl failed"
serve_cluster "${PORT:-17447}" --controllers ready --apply "$HERE/node.yaml" --client-ca-file "$WORK/ca.crt" \
  --feature-gates WatchList=true
sed -i "s|^\( *\)token: .*|\1client-certificate: $WORK/admin.crt\n\1client-key: $WORK/admin.key|" "$KUBECONFIG_FILE"
export KUBECONFIG=$KUBECONFIG_FILE RUST_LOG=info CARGO_PROFILE_DEV_DEBUG=0 NO_COLOR=1
cd "$SRC" || exit 2
log=$WORK/logs/kube-rs.log
examples="admission_controller cert_check configmapgen_controller crd_api crd_apply crd_derive_multi crd_derive_schema crd_reflector
  custom_client custom_client_retry custom_client_tls custom_client_trace dynamic_api dynamic_jsonpath dynamic_pod dynamic_watcher
  errorbounded_configmap_watcher event_watcher job_api kubectl multi_watcher node_reflector node_watcher pod_api pod_evict pod_paged
  pod_reflector pod_resize pod_watcher secret_reflector secret_syncer shared_stream_controllers"
tests="--lib --workspace --exclude e2e --all-features"
{
  # The examples are built alone: with the features of all crates, rustls has two providers and cannot choose one.
  cargo test $tests --no-run &&
    cargo build -p kube-examples --all-features $(printf -- '--example %s ' $examples)
} >"$log" 2>&1 || die "does not build, see $log"
bin=${CARGO_TARGET_DIR:-$SRC/target}/debug/examples
SECONDS=0
timeout "${LIMIT:-1200}" cargo test $tests --no-fail-fast -- --ignored >"$log" 2>&1

# The examples write a line as cargo does.
result() {
  echo "test example $1 ... $2" >>"$log"
}

light() {
  timeout 60 "$bin/kubectl" "$@" >>"$log" 2>&1
}

# completes NAME [ARG...]: the example ends without an error.
completes() {
  echo "--- $*" >>"$log"
  if timeout 90 "$bin/$1" "${@:2}" >>"$log" 2>&1; then result "$1" ok; else result "$1" FAILED; fi
}

# start NAME [ARG...]: an example that runs until it is stopped.
start() {
  echo "--- $*" >>"$log"
  : >"$WORK/logs/example.log"
  "$bin/$1" "${@:2}" >"$WORK/logs/example.log" 2>&1 </dev/null &
  example=$!
  running=$1${WATCHLIST:+, WATCHLIST=$WATCHLIST}
  seen=1
}

# sees PATTERN: the example prints it within half a minute.
sees() {
  for _ in $(seq 150); do
    grep -qE "$1" "$WORK/logs/example.log" && return
    kill -0 "$example" 2>/dev/null || break
    sleep 0.2
  done
  echo "expected: $1" >>"$log"
  seen=0
}

# stop: ends the example and records the result.
stop() {
  # A controller may wait for its watches to end before it obeys SIGTERM.
  kill -9 "$example" 2>/dev/null
  wait "$example" 2>/dev/null
  cat "$WORK/logs/example.log" >>"$log"
  if [ "$seen" = 1 ]; then result "$running" ok; else result "$running" FAILED; fi
}

# exists KIND NAME: the example creates this object within half a minute.
exists() {
  for _ in $(seq 30); do
    light get "$@" && return
    sleep 1
  done
  echo "expected: $*" >>"$log"
  seen=0
}

manifest() {
  cat >"$WORK/kube-rs.yaml"
  light apply -f "$WORK/kube-rs.yaml"
}

pod() {
  manifest <<<'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"'"$1"'"},"spec":{"containers":[{"name":"main","image":"none"}]}}'
}

# A CRD of the same name belongs to four examples.
foos="customresourcedefinitions foos.clux.dev"
pod first
manifest <<<'{"apiVersion":"v1","kind":"Secret","metadata":{"name":"first"},"stringData":{"a":"b"}}'
for name in crd_api crd_apply crd_derive_schema; do
  completes $name
  light delete $foos
done
for name in crd_derive_multi cert_check custom_client custom_client_retry custom_client_tls custom_client_trace dynamic_api \
  dynamic_jsonpath dynamic_pod job_api pod_api pod_evict pod_paged pod_resize; do
  completes $name
done
completes kubectl get pods first -o yaml
start kubectl watch configmaps -A
sees kube-root-ca.crt
stop

for watchlist in 0 1; do
  export WATCHLIST=$watchlist
  start pod_watcher
  sees "saw first"
  pod "watched-$watchlist"
  sees "saw watched-$watchlist"
  stop
  start node_watcher
  sees "Healthy node: node-1"
  stop
  start errorbounded_configmap_watcher
  sees "contents: .*kube-root-ca.crt"
  manifest <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"unparsed-'$watchlist'"},"data":{"a":"b"}}'
  sees "failed to parse"
  stop
done
unset WATCHLIST
start dynamic_watcher
sees "saw Pod first in default"
stop
start event_watcher
sees "Pod/"
stop
start multi_watcher
sees "Got configmap: kube-root-ca.crt"
sees "Got secret: first"
stop
start node_reflector
sees 'Current 1 nodes: \["node-1"\]'
stop
start pod_reflector
sees "saw first"
pod reflected
sees "saw reflected"
sees "Current pod count: [1-9]"
stop
start secret_reflector
sees "saw: first"
stop
start crd_reflector
sleep 4
light apply -f examples/crd-baz.yaml
sees "saw baz"
sees 'Current crds: \["baz"\]'
stop
start shared_stream_controllers
sees "Reconcil"
stop

light apply -f examples/configmapgen_controller_crd.yaml
start configmapgen_controller
light apply -f examples/configmapgen_controller_object.yaml
sees "reconciled .*foo"
exists configmaps foo
stop
start secret_syncer
light apply -f examples/secret_syncer_configmap.yaml
sees "Reconciled: Ok"
exists secrets cmsyncer-secret-syncer-example
light delete configmaps secret-syncer-example
light get secrets cmsyncer-secret-syncer-example && seen=0
stop
if [ -x "${K8S_BIN:-}/kubectl" ]; then
  # Its script creates the certificates in the current folder. The port is 8443.
  export ADMISSION_PRIVATE_IP=127.0.0.1
  rm -rf "$WORK/kube-rs-examples"
  cp -r examples "$WORK/kube-rs-examples"
  cd "$WORK/kube-rs-examples" || exit 2
  PATH=$K8S_BIN:$PATH bash admission_setup.sh >>"$log" 2>&1
  light apply -f admission_crd.yaml
  start admission_controller
  sleep 2
  light apply -f admission_ok.yaml || seen=0
  sees "accepted: .*AdmitTest/ok"
  light apply -f admission_reject.yaml && seen=0
  sees "denied: "
  stop
fi
report kube-rs "$log"
