/**
 * The option `-f` of commands that read manifests.
 */
import { type Manifest, ManifestError, type ManifestText, readManifests } from '../../manifests/read.js';
import { messageOf, onOneLine } from '../../util/message-of.js';
import { readManifestFiles } from '../manifests.js';
import { type CommandEnvironment, type CommandOptions, type CommandValues, UsageError } from './command.js';

export const FILENAME_OPTION = {
  filename: {
    type: 'string',
    short: 'f',
    multiple: true,
    value: 'FILE',
    help: 'manifests: a file, a folder, or - for standard input; may be repeated',
  },
  recursive: { type: 'boolean', short: 'R', help: 'read the subfolders of folders, too' },
} as const satisfies CommandOptions;

/** Reads files; `option` is the name in messages. Rejects with UsageError for a file that cannot be read. */
export async function readFiles(
  option: string,
  names: readonly string[],
  stdin: NodeJS.ReadableStream,
  options: { readonly recursive?: boolean } = {},
): Promise<ManifestText[]> {
  try {
    return await readManifestFiles(names, stdin, options);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { code, path } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'no such file or directory' : messageOf(error);
    throw new UsageError(path === undefined ? `${option}: ${why}` : `${option} ${path}: ${why}`);
  }
}

/**
 * The objects of the files. Prints a line for each document that cannot be read, and rejects with the last one: a command
 * then changes nothing.
 */
export async function readManifestOption(
  { filename = [], recursive = false }: CommandValues<typeof FILENAME_OPTION>,
  { stdin, writeError }: CommandEnvironment,
): Promise<readonly Manifest[]> {
  if (filename.length === 0) throw new UsageError('the option -f is missing, which names manifests');
  const read = (await readFiles('-f', filename, stdin, { recursive })).flatMap(readManifests);
  const broken = read.filter((each) => each instanceof ManifestError);
  const last = broken.pop();
  for (const { message } of broken) writeError(errorLine(message));
  if (last !== undefined) throw last;
  if (read.length === 0) throw new UsageError(`-f ${filename.join(', ')} contains no objects`);
  return read.filter((each): each is Manifest => !(each instanceof ManifestError));
}

/** A message as one line. */
export function errorLine(message: string): string {
  return `orchplane: ${onOneLine(message)}\n`;
}

/** Rejects objects of another namespace than the one of the command line. */
export function checkNamespaces(manifests: readonly Manifest[], namespace: string | undefined): void {
  if (namespace === '') throw new UsageError('--namespace takes a name');
  const other = manifests.find((each) => namespace !== undefined && (each.namespace ?? namespace) !== namespace);
  if (other === undefined) return;
  throw new UsageError(
    `--namespace ${namespace} contradicts the namespace ${other.namespace} of ${other.kind} ${other.name}`,
  );
}
