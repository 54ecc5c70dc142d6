#!/usr/bin/env bash
# Official conformance tests, all of them, with agnhost and busybox as processes in Linux namespaces. Needs Linux and root, and
# the commands unshare, nsenter, setpriv, chroot, ip, curl, dig, nc and a static busybox (Debian: busybox-static, dnsutils,
# curl, netcat-openbsd): the containers of agnhost see the files of this machine.
#   K8S_SRC   the sources of Kubernetes 1.33, for agnhost
#   K8S_BIN   a folder with e2e.test and kubectl of release 1.33
#   NAMES     a list of names, one per line; default: all conformance tests
#   LIMIT     seconds for one test, default 320
#   PARALLEL  the number of tests at a time, default 4
#   PORT      default: 17443
. "$(dirname "$0")/lib.sh"
[ -x "${K8S_BIN:?set it to a folder with e2e.test and kubectl}/e2e.test" ] || die "$K8S_BIN/e2e.test is missing"
[ "$(id -u)" = 0 ] || die "namespaces require root"
for command in unshare nsenter setpriv chroot ip curl dig nc busybox; do
  command -v "$command" >/dev/null || die "$command is missing"
done
images=$WORK/images
mkdir -p "$images/agnhost" "$images"/busybox/{bin,etc,tmp,root,nautilus,usr/local/apache2/htdocs}
[ -x "$images/agnhost/agnhost" ] ||
  (cd "${K8S_SRC:?set it to the sources of Kubernetes}" && CGO_ENABLED=0 go build -o "$images/agnhost/agnhost" ./test/images/agnhost)
cp "${K8S_SRC:?}"/test/images/agnhost/porter/localhost.{crt,key} "$images/agnhost/"
cp "$(command -v busybox)" "$images/busybox/bin/busybox"
cp -f "$images/agnhost/agnhost" "$images/agnhost/agnhost-2"
chroot "$images/busybox" /bin/busybox --install -s /bin
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$images/busybox/etc/passwd"
printf 'root:x:0:\nnobody:x:65534:\n' >"$images/busybox/etc/group"
echo '<html><body><h1>It works!</h1></body></html>' >"$images/busybox/usr/local/apache2/htdocs/index.html"
echo '{ "image": "nautilus.jpg" }' >"$images/busybox/nautilus/data.json"
kubeconfig=$WORK/kubeconfig-pods
rm -f "$kubeconfig"
node "$HERE/serve-pods.mjs" "${PORT:-17443}" "$kubeconfig" "$images/agnhost" "$images/busybox" >"$WORK/logs/pods-server.log" 2>&1 &
trap 'kill %1' EXIT
for _ in $(seq 60); do [ -f "$kubeconfig" ] && break || sleep 1; done
names=${NAMES:-$WORK/conformance-all.txt}
# The names of the list are wrapped.
[ -n "${NAMES:-}" ] || node -e '
  const text = require("node:fs").readFileSync(process.argv[1], "utf8");
  for (const [, name] of text.matchAll(/codename: \x27((?:[^\x27]|\x27\x27)*)\x27/g))
    console.log(name.replaceAll("\x27\x27", "\x27").replace(/\s+/g, " "));
' "$K8S_SRC/test/conformance/testdata/conformance.yaml" >"$names"
logs=$WORK/logs/conformance-pods
rm -rf "$logs" && mkdir -p "$logs"
export logs kubeconfig K8S_BIN LIMIT
one() {
  id=$(md5sum <<<"$1" | cut -c1-10)
  pattern=$(sed 's/[][\.*^$()+?{}|\/]/\\&/g' <<<"$1")
  timeout "${LIMIT:-320}" "$K8S_BIN/e2e.test" --provider=skeleton --kubeconfig="$kubeconfig" --kubectl-path="$K8S_BIN/kubectl" \
    --ginkgo.no-color --ginkgo.focus="$pattern\$" --allowed-not-ready-nodes=-1 --minStartupPods=0 --disable-log-dump \
    --dump-logs-on-failure=false --system-pods-startup-timeout=5s --node-schedulable-timeout=5s >"$logs/$id.log" 2>&1
  code=$?
  ran=$(grep -ac 'Ran 1 of' "$logs/$id.log")
  echo "$([ "$code" = 0 ] && [ "$ran" = 1 ] && echo PASS || echo FAIL) $id $1" >>"$logs/results.txt"
}
export -f one
# Tests that disturb others run alone, at the end.
grep -v 'Serial\|Disruptive' "$names" | tr '\n' '\0' | xargs -0 -r -n1 -P "${PARALLEL:-4}" bash -c 'one "$0"'
grep 'Serial\|Disruptive' "$names" | tr '\n' '\0' | xargs -0 -r -n1 -P 1 bash -c 'one "$0"'
grep -a '^FAIL' "$logs/results.txt" | sort
echo "conformance: $(grep -c . "$names") tests, $(grep -ac '^PASS' "$logs/results.txt") passed (logs: $logs)"
