/**
 * How commands that check manifests read them and print what they find.
 */
import {
  type Finding,
  type FindingLevel,
  findingText,
  githubAnnotation,
  sarifLog,
  sortFindings,
} from '../../manifests/finding.js';
import { messageOf } from '../../util/message-of.js';
import { type ManifestTree, readManifestTree } from '../manifest-tree.js';
import { type CommandEnvironment, type CommandOptions, type CommandValues, UsageError } from './command.js';
import { counted } from './output.js';

/** The options of commands that print findings. */
export const FINDING_OPTIONS = {
  strict: { type: 'boolean', help: 'treat warnings as errors' },
  output: {
    type: 'string',
    short: 'o',
    choices: ['text', 'json', 'sarif', 'github'],
    help: 'lines of text (the default), JSON, SARIF 2.1.0 for code scanning, or annotations of GitHub Actions',
  },
} as const satisfies CommandOptions;

/** The option for manifests in files and folders. */
export const TREE_OPTION = {
  filename: {
    type: 'string',
    short: 'f',
    multiple: true,
    value: 'FILE',
    help: 'a file, a folder with its subfolders, or - for standard input; may be repeated',
  },
} as const satisfies CommandOptions;

/** Reads files; `option` is the name in messages. Rejects with UsageError for what cannot be read. */
export async function readTree(
  option: string,
  names: readonly string[],
  { stdin }: CommandEnvironment,
): Promise<ManifestTree> {
  if (names.filter((name) => name === '-').length > 1) throw new UsageError('standard input can be read only once');
  try {
    return await readManifestTree(names, stdin);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    const { code, path = '' } = error as NodeJS.ErrnoException;
    throw new UsageError(`${option} ${path}: ${code === 'ENOENT' ? 'no such file or directory' : messageOf(error)}`);
  }
}

/** The end of a message that there is nothing to check: why the first file is not checked. */
export function whySkipped([first]: readonly Finding[]): string {
  return first === undefined ? '' : `; ${first.file} is ${first.message}`;
}

/** Prints findings and a summary. Returns the exit code: 1 if there are errors. */
export function printFindings(
  findings: readonly Finding[],
  checked: string,
  { output = 'text', strict = false }: CommandValues<typeof FINDING_OPTIONS>,
  { writeOut, writeError, version }: CommandEnvironment,
): 0 | 1 {
  const sorted = sortFindings(findings).map(
    (finding): Finding => (strict && finding.level === 'warning' ? { ...finding, level: 'error' } : finding),
  );
  if (output === 'json') writeOut(`${JSON.stringify({ findings: sorted }, undefined, 2)}\n`);
  else if (output === 'sarif')
    writeOut(`${JSON.stringify(sarifLog(sorted, { version, uri: PROJECT }), undefined, 2)}\n`);
  else for (const finding of sorted) writeOut(output === 'github' ? githubAnnotation(finding) : findingText(finding));
  const count = (level: FindingLevel) => sorted.filter((finding) => finding.level === level).length;
  const [errors, warnings, notes] = [count('error'), count('warning'), count('note')];
  const skipped = notes === 0 ? '' : `, ${counted(notes, 'file')} not checked`;
  writeError(`${checked}: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}${skipped}\n`);
  return errors > 0 ? 1 : 0;
}

const PROJECT = 'https://www.npmjs.com/package/orchplane';
