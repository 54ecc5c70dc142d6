#!/usr/bin/env bash
# Starts a cluster in the background and waits until it answers. Writes the path of its kubeconfig for the later steps of the job.
# Variables: VERSION (of the package), OPTIONS (of "orchplane serve"), ORCHPLANE (the command; tests set it).
set -euo pipefail
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/orchplane-XXXXXX")
kubeconfig=$folder/kubeconfig
# Words, separated by blanks or line breaks. The version is one word, so that it cannot contain options of npx.
read -rd '' -a command <<<"${ORCHPLANE:-}" || true
if [[ ${#command[@]} == 0 ]]; then
  command=(npx --yes --package "orchplane@${VERSION:-latest}" --package zod orchplane)
fi
read -rd '' -a options <<<"${OPTIONS:-}" || true
nohup "${command[@]}" serve --kubeconfig "$kubeconfig" "${options[@]}" >"$folder/log" 2>&1 &
server=$!
for _ in $(seq 600); do
  if [[ -s $kubeconfig ]]; then
    echo "KUBECONFIG=$kubeconfig" >>"$GITHUB_ENV"
    echo "kubeconfig=$kubeconfig" >>"$GITHUB_OUTPUT"
    exit 0
  fi
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
echo 'orchplane did not start:' >&2
cat "$folder/log" >&2
kill "$server" 2>/dev/null || true
exit 1
