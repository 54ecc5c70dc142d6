#!/usr/bin/env bash
# The integration tests of Kueue with one cluster, without the packages that need CRDs of other projects ("make dep-crds").
. "$(dirname "$0")/lib.sh"
source=$(module_source kueue sigs.k8s.io/kueue@${VERSION:-v0.13.0}) || exit 2
packages=$(cd "$source" && find test/integration/singlecluster -name suite_test.go -print0 |
  xargs -0 grep -L -e dep-crds -e DepCRDPaths | xargs -n1 dirname | sort -u)
run_packages kueue "$source" ${PACKAGES:-$packages}
