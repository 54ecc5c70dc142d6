/**
 * Checks the files that a command is to write, before it runs.
 */
import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type CommandDefinition, type CommandInput, UsageError } from './command.js';

interface NamedFile {
  /** The option, the variable or the argument that names it. */
  readonly source: string;
  readonly file: string;
}

/** Throws UsageError for `-`, unless it is standard output, and for a file that the command also reads or writes twice. */
export function checkOutputs(
  { options, readsArguments }: CommandDefinition,
  { values, positionals }: CommandInput,
  variables: Readonly<Record<string, string | undefined>>,
): void {
  const outputs: NamedFile[] = [];
  const inputs: NamedFile[] = [];
  if (readsArguments !== false) inputs.push(...positionals.map((file) => ({ source: 'an argument', file })));
  for (const [name, { value, writes, variable }] of Object.entries(options)) {
    const given: unknown = values[name] ?? (variable === undefined ? undefined : variables[variable]);
    if (value !== 'FILE' && writes === undefined) continue;
    const source = values[name] === undefined ? String(variable) : `--${name}`;
    for (const file of [given].flat()) {
      if (typeof file !== 'string' || file === '') continue;
      if (writes === 'file' && file === '-') throw new UsageError(`--${name} takes a file; - is none`);
      if (file !== '-') (writes === undefined ? inputs : outputs).push({ source, file });
    }
  }
  for (const [index, { source, file }] of outputs.entries()) {
    const identity = identityOf(file);
    const other = [...inputs, ...outputs.slice(index + 1)].find((each) => identityOf(each.file) === identity);
    if (other !== undefined) {
      throw new UsageError(`${source} ${file} would overwrite the file of ${other.source}; name another file`);
    }
  }
}

/** The same for all names of a file, links included; the file need not exist. */
function identityOf(file: string): string {
  const path = resolve(file);
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (status !== undefined) return `${status.dev} ${status.ino}`;
  return dirname(path) === path ? path : `${identityOf(dirname(path))}/${basename(path)}`;
}
