#!/usr/bin/env bash
# The integration tests of Kueue: the packages with one cluster, then MultiKueue.
. "$(dirname "$0")/lib.sh"
source=$(module_source kueue sigs.k8s.io/kueue@${VERSION:-v0.13.0}) || exit 2
export PROJECT_DIR=$source/ KUEUE_BIN=$WORK/bin ENVTEST_K8S_VERSION=1.33
(cd "$source" && CGO_ENABLED=0 go build -o "$KUEUE_BIN/kubectl-kueue" ./cmd/kueuectl) || exit 2

# copy_crds MODULE FOLDER TARGET: copies the CRDs of another project, as "make dep-crds" does.
copy_crds() {
  local from target=$source/dep-crds/$3
  [ -d "$target" ] && return
  from=$(cd "$source" && go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  if [ ! -d "$from/$2" ]; then
    echo "the Go proxy does not have $1: tests that need its CRDs will fail" >&2
    return
  fi
  mkdir -p "$target"
  # The training operator has an MPIJob, too, of another version.
  find "$from/$2" -maxdepth 1 -type f ! -path "*/training-operator*_mpijobs.yaml" -exec cp {} "$target/" \;
  chmod -R u+w "$target"
}
copy_crds github.com/kubeflow/mpi-operator manifests/base mpi-operator
copy_crds github.com/kubeflow/training-operator manifests/base/crds training-operator-crds
copy_crds github.com/ray-project/kuberay/ray-operator config/crd/bases ray-operator-crds
copy_crds github.com/project-codeflare/appwrapper config/crd/bases appwrapper-crds
copy_crds k8s.io/autoscaler/cluster-autoscaler/apis config/crd cluster-autoscaler
copy_crds sigs.k8s.io/jobset config/components/crd/bases jobset-operator

packages=$(cd "$source" && for folder in singlecluster multikueue; do
  find "test/integration/$folder" -name suite_test.go -print0 | xargs -0 -n1 dirname | sort
done)
run_packages kueue "$source" ${PACKAGES:-$packages}
