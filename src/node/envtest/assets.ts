/**
 * Writes the folder that the variable KUBEBUILDER_ASSETS names: programs that envtest starts in the place of kube-apiserver
 * and etcd, and a kubectl.
 */
import { access, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UsageError } from '../commands/command.js';
import { API_SERVER_FLAGS } from './flags.js';

/** The commands behind the programs; they are not listed in the help text. */
export const API_SERVER_COMMAND = 'envtest-kube-apiserver';
export const ETCD_COMMAND = 'envtest-etcd';

/** How the programs start the command line. */
export interface CommandPaths {
  /** The Node executable. */
  readonly node: string;
  /** The file of the `orchplane` command. */
  readonly program: string;
}

/** In the second line of each file, so that files of others are not replaced. */
const MARK = '# Written by "orchplane envtest".';

/**
 * Writes the programs into a folder and returns its absolute path. Throws UsageError if the folder contains a program of the
 * same name that orchplane did not write.
 */
export async function writeAssets(folder: string, paths: CommandPaths): Promise<string> {
  const path = resolve(folder);
  const files = Object.entries({
    'kube-apiserver': apiServerScript(paths),
    etcd: etcdScript(paths),
    kubectl: KUBECTL_SCRIPT,
  });
  for (const [name] of files) await checkReplaceable(join(path, name));
  await mkdir(path, { recursive: true });
  for (const [name, text] of files) {
    await writeFile(join(path, name), text);
    await chmod(join(path, name), 0o755);
  }
  return path;
}

async function checkReplaceable(file: string): Promise<void> {
  const isPresent = await access(file).then(
    () => true,
    () => false,
  );
  if (!isPresent) return;
  const text = await readFile(file, 'latin1');
  if (text.split('\n', 2)[1] !== MARK) {
    throw new UsageError(`${file} exists and was not written by orchplane; choose another folder`);
  }
}

/** envtest searches the help text for flags before it starts a program. The shell answers, without starting Node. */
function helpBranch(title: string, flags: readonly string[]): string {
  const lines = flags.map((name) => `      --${name} string`);
  return `for argument in "$@"; do
  if [ "$argument" = --help ] || [ "$argument" = -h ]; then
    cat <<'EOF'
${title}

Flags:
${lines.join('\n')}
EOF
    exit 0
  fi
done
`;
}

function execLine(command: string, { node, program }: CommandPaths): string {
  return `if [ ! -f ${shellQuote(program)} ]; then
  echo "orchplane is no longer at" ${shellQuote(program)}"; run \\"npx orchplane envtest\\" again" >&2
  exit 127
fi
exec ${shellQuote(node)} ${shellQuote(program)} ${command} "$@"
`;
}

function apiServerScript(paths: CommandPaths): string {
  const help = helpBranch('orchplane in the place of kube-apiserver', API_SERVER_FLAGS);
  return `#!/bin/sh\n${MARK}\n${help}${execLine(API_SERVER_COMMAND, paths)}`;
}

const ETCD_FLAGS = ['advertise-client-urls', 'data-dir', 'listen-client-urls', 'listen-peer-urls', 'unsafe-no-fsync'];

function etcdScript(paths: CommandPaths): string {
  const help = helpBranch('orchplane in the place of etcd: answers health checks', ETCD_FLAGS);
  return `#!/bin/sh\n${MARK}\n${help}${execLine(ETCD_COMMAND, paths)}`;
}

const KUBECTL_SCRIPT = `#!/bin/sh
${MARK}
# Runs the kubectl of the PATH: orchplane has none.
if [ -z "$ORCHPLANE_KUBECTL" ]; then
  # Another folder may contain this program, too; it must not start itself.
  export ORCHPLANE_KUBECTL=started
  own=$(cd "\${0%/*}" && pwd -P) || exit 126
  before=$IFS
  IFS=:
  for folder in $PATH; do
    IFS=$before
    [ -x "$folder/kubectl" ] && [ ! -d "$folder/kubectl" ] || continue
    [ "$(cd "$folder" && pwd -P)" = "$own" ] || exec "$folder/kubectl" "$@"
  done
fi
echo 'orchplane contains no kubectl: install it and put it on the PATH' >&2
exit 127
`;

/** A word for a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
