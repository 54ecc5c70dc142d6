#!/usr/bin/env bash
# The envtest suites of controller-runtime: every package whose tests start a control plane.
. "$(dirname "$0")/lib.sh"
source=$(module_source controller-runtime sigs.k8s.io/controller-runtime@${VERSION:-v0.21.0}) || exit 2
packages=$(cd "$source" && grep -rl --include='*_test.go' -e 'envtest' -e 'controlplane' pkg | xargs -n1 dirname | sort -u)
run_packages controller-runtime "$source" ${PACKAGES:-$packages}
