#!/usr/bin/env bash
# The integration tests of JobSet.
. "$(dirname "$0")/lib.sh"
source=$(module_source jobset sigs.k8s.io/jobset@${VERSION:-v0.9.0}) || exit 2
run_packages jobset "$source" ${PACKAGES:-test/integration/controller test/integration/webhook}
