#!/usr/bin/env bash
# The tests of kopf (Python) that need a cluster: its examples as operators, among them one with admission webhooks.
#   VERSION  default: 1.45.2
#   TESTS    only these, an expression of pytest such as "17-admission"
#   PORT     default: 17446
# kubectl must be in the PATH. REAL_KUBECONFIG runs the tests on another cluster, for comparison.
. "$(dirname "$0")/lib.sh"
VERSION=${VERSION:-1.45.2}
PORT=${PORT:-17446}
command -v kubectl >/dev/null || die "kubectl is missing"
source=$WORK/kopf-$VERSION
if [ ! -d "$source" ]; then
  python3 -m venv "$WORK/kopf-env" || exit 2
  "$WORK/kopf-env/bin/pip" install -q "kopf[full-auth,dev]==$VERSION" "astpath[xpath]" freezegun kmock looptime lxml \
    "pytest>=9" pytest-aiohttp pytest-asyncio pytest-cov pytest-mock pytest-timeout || exit 2
  # oscrypto, which makes the certificate of the webhook server, rejects versions of OpenSSL with two digits.
  find "$WORK/kopf-env" -path "*oscrypto/_openssl/_libcrypto_c*.py" \
    -exec sed -i 's/\\\\d\\\\\.\\\\d\\\\\.\\\\d\[a-z\]\*/\\\\d+\\\\.\\\\d+\\\\.\\\\d+[a-z]*/' {} +
  "$WORK/kopf-env/bin/pip" download -q --no-deps --no-binary kopf -d "$WORK" "kopf==$VERSION" || exit 2
  tar xzf "$WORK/kopf-$VERSION.tar.gz" -C "$WORK" || exit 2
fi
if [ -z "${REAL_KUBECONFIG:-}" ]; then serve_cluster "$PORT" --controllers ready; fi
export KUBECONFIG=${REAL_KUBECONFIG:-$KUBECONFIG_FILE}
log=$WORK/logs/kopf.log
report=$WORK/logs/kopf.xml
cd "$source" || exit 2
kubectl apply -f examples/crd.yaml >/dev/null || exit 2
# The flags of its workflow. Its own limit of 30 seconds is for a machine that does nothing else.
"$WORK/kopf-env/bin/python" -m pytest --only-e2e --no-cov -p no:cacheprovider --timeout "${LIMIT:-60}" \
  --junit-xml "$report" ${TESTS:+-k "$TESTS"} >"$log" 2>&1
[ -f "$report" ] || die "no result, see $log"
"$WORK/kopf-env/bin/python" - "$report" "$log" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree
cases = tree.parse(sys.argv[1]).findall('.//testcase')
failed = [case for case in cases if case.find('failure') is not None or case.find('error') is not None]
skipped = [case for case in cases if case.find('skipped') is not None]
for case in failed:
    print(f"  [FAIL] {case.get('name')}")
count = len(cases) - len(skipped)
print(f"kopf: {count} tests, {count - len(failed)} passed, {len(failed)} failed (log: {sys.argv[2]})")
sys.exit(1 if failed or count == 0 else 0)
PYTHON
