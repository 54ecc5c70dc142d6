#!/usr/bin/env bash
# The integration tests of fabric8's Kubernetes client for Java, on the released artifacts of the same version.
#   SRC     a checkout of kubernetes-client: its pom.xml and kubernetes-itests suffice
#   CLIENT  jdk, jetty, okhttp or vertx-5; default: the HTTP client that the release uses without a choice (vert.x)
#   TESTS   only these classes; default: io.fabric8.kubernetes.**
#   PORT    default: 17446
. "$(dirname "$0")/lib.sh"
[ -f "${SRC:?set it to a checkout of kubernetes-client}/kubernetes-itests/pom.xml" ] || die "$SRC has no kubernetes-itests"
# A test expects that every cluster has a pod.
cat >"$WORK/fabric8.yaml" <<'END'
apiVersion: v1
kind: Pod
metadata: { name: system, namespace: kube-system }
spec: { containers: [{ name: main, image: none }] }
END
serve_cluster "${PORT:-17446}" --controllers ready --apply "$HERE/node.yaml" --apply "$WORK/fabric8.yaml"
log=$WORK/logs/fabric8-${CLIENT:-default}.log
SECONDS=0
KUBECONFIG=$KUBECONFIG_FILE timeout "${LIMIT:-5400}" mvn -B -ntp -Pitests ${CLIENT:+-Phttpclient-$CLIENT} \
  -f "$SRC/kubernetes-itests/pom.xml" test -Dtest="${TESTS:-io.fabric8.kubernetes.**}" >"$log" 2>&1
report fabric8 "$log"
