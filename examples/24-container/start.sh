# Serves a cluster on all addresses of the container; its arguments are further options of "orchplane serve".
# The certificate is valid for 127.0.0.1, so clients use the published port of this machine.
set -eu
exec orchplane serve --host "${HOST:-0.0.0.0}" --port 6443 --kubeconfig "${KUBE:-/kube}/config" "$@"
