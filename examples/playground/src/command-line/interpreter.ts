/**
 * Runs one line. It never throws: errors are printed as kubectl prints them, and the exit code reports them.
 */
import { COMMON_FLAGS, type Command, type CommandContext, type OpenInput, type Shell } from './command.js';
import { commands } from './commands/index.js';
import { readFlags } from './flags.js';
import { commandHelp, overview } from './help.js';
import { Resources } from './resources.js';
import { type Identity, Server, ServerError } from './server.js';
import { LineError, splitWords } from './split-words.js';
import { unsupportedReason } from './unsupported-commands.js';

/** `error` is kubectl's stderr: failures, warnings, hints. */
export type Stream = 'output' | 'error';

export interface RunOptions {
  /** Called with each piece of output. */
  readonly write: (text: string, stream: Stream) => void;
  /** Ends a watch or a wait. */
  readonly signal?: AbortSignal;
  readonly input?: OpenInput;
}

/** Runs a line and resolves with its exit code. */
export async function runLine(shell: Shell, line: string, options: RunOptions): Promise<number> {
  const { write, signal = new AbortController().signal } = options;
  try {
    const { words } = splitWords(line);
    return await runWords(shell, withoutProgram(words), { ...options, signal });
  } catch (error) {
    if (signal.aborted) return 130;
    write(failureText(error), 'error');
    return 1;
  }
}

/** Runs a line and returns its whole output. */
export async function runForText(shell: Shell, line: string): Promise<{ code: number; output: string; error: string }> {
  const parts = { output: [] as string[], error: [] as string[] };
  const code = await runLine(shell, line, { write: (text, stream) => parts[stream].push(text) });
  return { code, output: parts.output.join('\n'), error: parts.error.join('\n') };
}

export function commandNamed(name: string): Command | undefined {
  return commands.find((command) => command.name === name || command.aliases?.includes(name));
}

/** Removes a leading `kubectl`, as in pasted lines. */
export function withoutProgram(words: readonly string[]): readonly string[] {
  return ['kubectl', 'k', '$'].includes(words[0] ?? '') ? withoutProgram(words.slice(1)) : words;
}

type RunningOptions = RunOptions & { readonly signal: AbortSignal };

async function runWords(shell: Shell, words: readonly string[], options: RunningOptions): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined) return 0;
  const { write, signal, input } = options;
  if (name === 'help' || name === '--help' || name === '-h') {
    const [about] = rest;
    const command = about === undefined ? undefined : commandNamed(about);
    if (about !== undefined && command === undefined) throw new LineError(unknownCommand(about));
    write(command === undefined ? overview(commands) : commandHelp(command), 'output');
    return 0;
  }
  const command = commandNamed(name);
  if (command === undefined) throw new LineError(unknownCommand(name));
  const flags = readFlags(rest, { ...COMMON_FLAGS, ...command.flags });
  if (flags.isOn('help')) {
    write(commandHelp(command), 'output');
    return 0;
  }
  const groups = flags.texts('as-group');
  const as = flags.text('as');
  if (groups.length > 0 && as === undefined) {
    throw new LineError('error: requesting user impersonation: groups need --as as well');
  }
  const identity: Identity = as === undefined ? shell.identity() : { user: as, groups };
  const note = (text: string) => write(text, 'error');
  const server = new Server(shell.fetch, { identity, onWarning: (warning) => note(`Warning: ${warning}`) });
  let discovered: Promise<Resources> | undefined;
  const context: CommandContext = {
    shell,
    server,
    flags,
    args: flags.args,
    namespace: flags.text('namespace') ?? shell.namespace(),
    identity,
    resources() {
      discovered ??= Resources.discover(new Server(shell.fetch));
      return discovered;
    },
    print: (text) => write(text, 'output'),
    note,
    signal,
    input,
  };
  return (await command.run(context)) ?? 0;
}

function unknownCommand(name: string): string {
  const reason = unsupportedReason(name);
  if (reason !== undefined) return `error: "${name}" is not available: ${reason}`;
  const near = commands.map((command) => command.name).filter((each) => isSimilar(each, name));
  const hint = near.length === 0 ? '' : `\n\nDid you mean this?\n${near.map((each) => `\t${each}`).join('\n')}`;
  return `error: unknown command "${name}"; "help" lists all commands${hint}`;
}

/** Whether one is a prefix of the other, or both differ in one letter. */
function isSimilar(left: string, right: string): boolean {
  if (left.startsWith(right) || right.startsWith(left)) return true;
  if (Math.abs(left.length - right.length) > 1) return false;
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const [a, b] = [left.slice(at), right.slice(at)];
  return a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1) || swapped(a) === b;
}

function swapped(text: string): string {
  return (text[1] ?? '') + (text[0] ?? '') + text.slice(2);
}

function failureText(error: unknown): string {
  if (error instanceof ServerError) return error.text();
  if (error instanceof LineError) return error.message;
  return `error: ${error instanceof Error ? error.message : String(error)}`;
}
