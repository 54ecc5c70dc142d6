#!/usr/bin/env bash
# The integration tests of LeaderWorkerSet.
. "$(dirname "$0")/lib.sh"
source=$(module_source lws sigs.k8s.io/lws@${VERSION:-v0.7.0}) || exit 2
run_packages lws "$source" ${PACKAGES:-test/integration/controllers test/integration/webhooks}
