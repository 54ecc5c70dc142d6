/**
 * The file by which kubectl and client libraries find a served cluster.
 */
import { open, readFile, stat } from 'node:fs/promises';

export interface KubeconfigParts {
  readonly url: string;
  /** PEM; absent for plain HTTP, or where the client knows the authority. */
  readonly caCertificate?: string | undefined;
  readonly token?: string | undefined;
}

/** The first line of every file of ours: what has it may be replaced. */
const MARK = '# A cluster served by orchplane.';

const NAME = 'orchplane';

export function kubeconfigText({ url, caCertificate, token }: KubeconfigParts): string {
  // A JSON text is a YAML scalar that needs no thought about quotes.
  const text = (value: string): string => JSON.stringify(value);
  return [
    MARK,
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${NAME}`,
    '  cluster:',
    `    server: ${text(url)}`,
    ...(caCertificate === undefined
      ? []
      : [`    certificate-authority-data: ${Buffer.from(caCertificate).toString('base64')}`]),
    // Of no meaning where nothing is encrypted, but client libraries refuse plain HTTP to whoever does not say so.
    ...(url.startsWith('http:') ? ['    insecure-skip-tls-verify: true'] : []),
    'users:',
    `- name: ${NAME}`,
    ...(token === undefined ? ['  user: {}'] : ['  user:', `    token: ${text(token)}`]),
    'contexts:',
    `- name: ${NAME}`,
    '  context:',
    `    cluster: ${NAME}`,
    `    user: ${NAME}`,
    '    namespace: default',
    `current-context: ${NAME}`,
    '',
  ].join('\n');
}

/**
 * Writes the file for its owner's eyes only. Rejects rather than replace a file that is not ours: a slip of the hand must
 * not cost anybody the way to their real clusters.
 */
export async function writeKubeconfig(file: string, text: string): Promise<void> {
  const present = await readIfPresent(file);
  if (present !== undefined && present !== '' && !present.startsWith(MARK)) {
    throw new Error(`${file} exists and was not written by orchplane; it is left as it is`);
  }
  const handle = await open(file, 'w', 0o600);
  try {
    // The mode above counts for new files only, and the token must not be readable for a moment either.
    await handle.chmod(0o600);
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    // A device or a pipe may never come to its end, and its permissions are not ours to change.
    if (!(await stat(file)).isFile()) throw new Error(`${file} is no regular file; it is left as it is`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
