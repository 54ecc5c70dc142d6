/**
 * Builds and writes kubeconfig files for served clusters.
 */
import { readPrivateFile, writePrivateFile } from './private-file.js';

/** The content of a kubeconfig. */
export interface KubeconfigParts {
  readonly url: string;
  /** In PEM format; absent for plain HTTP, or when clients already trust the CA. */
  readonly caCertificate?: string | undefined;
  readonly token?: string | undefined;
}

/** The first line of files written by orchplane; only such files are replaced. */
const FIRST_LINE = '# A cluster served by orchplane.';

const CONTEXT_NAME = 'orchplane';

/** The text of a kubeconfig with one cluster, user and context. */
export function kubeconfigText({ url, caCertificate, token }: KubeconfigParts): string {
  // A JSON string is a valid YAML scalar, so no other quoting is needed.
  const text = (value: string): string => JSON.stringify(value);
  return [
    FIRST_LINE,
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${CONTEXT_NAME}`,
    '  cluster:',
    `    server: ${text(url)}`,
    ...(caCertificate === undefined
      ? []
      : [`    certificate-authority-data: ${Buffer.from(caCertificate).toString('base64')}`]),
    // Has no effect on plain HTTP, but client libraries refuse plain HTTP without it.
    ...(url.startsWith('http:') ? ['    insecure-skip-tls-verify: true'] : []),
    'users:',
    `- name: ${CONTEXT_NAME}`,
    ...(token === undefined ? ['  user: {}'] : ['  user:', `    token: ${text(token)}`]),
    'contexts:',
    `- name: ${CONTEXT_NAME}`,
    '  context:',
    `    cluster: ${CONTEXT_NAME}`,
    `    user: ${CONTEXT_NAME}`,
    '    namespace: default',
    `current-context: ${CONTEXT_NAME}`,
    '',
  ].join('\n');
}

/**
 * Writes the file, readable by its owner only. Rejects rather than replace a file that orchplane did not write, such as
 * the user's own kubeconfig, or a symbolic link.
 */
export async function writeKubeconfig(file: string, text: string): Promise<void> {
  const present = await readPrivateFile(file);
  if (present !== undefined && present !== '' && !present.startsWith(FIRST_LINE)) {
    throw new Error(`${file} exists and was not written by orchplane; it is left as it is`);
  }
  await writePrivateFile(file, text);
}
