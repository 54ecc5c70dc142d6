#!/usr/bin/env bash
# The integration tests of Kueue; those of several clusters (multikueue) start five control planes.
. "$(dirname "$0")/lib.sh"
source=$(module_source kueue sigs.k8s.io/kueue@${VERSION:-v0.13.0}) || exit 2
packages=$(cd "$source" && find test/integration/singlecluster -name suite_test.go | xargs -n1 dirname | sort -u)
run_packages kueue "$source" ${PACKAGES:-$packages}
