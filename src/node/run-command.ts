/**
 * Runs the commands of `orchplane`.
 */
import { fstatSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import process from 'node:process';
import { unicodeEscape } from '../util/json.js';
import { onOneLine } from '../util/message-of.js';
import type { CommandDefinition, CommandEnvironment } from './commands/command.js';
import { UsageError } from './commands/command.js';
import { COMMANDS } from './commands/index.js';
import { checkOutputs } from './commands/outputs.js';
import { parseArguments } from './commands/parse.js';

/**
 * Runs the command line and returns the exit code: 0; 1 if the command has found something to report; 2 after a failure,
 * which is printed as one line.
 */
export async function runCommand(args: readonly string[], given: CommandEnvironment): Promise<number> {
  const environment: CommandEnvironment = {
    ...given,
    writeOut: (text) => given.writeOut(visible(text)),
    writeError: (text) => given.writeError(visible(text)),
  };
  try {
    return await dispatch(args, environment);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    environment.writeError(`orchplane: ${onOneLine(error.message.replace(/^orchplane: /, ''))}\n`);
    return 2;
  }
}

/**
 * Objects, files and servers may contain control characters, which could change the screen of a terminal, its title and its
 * clipboard. They are printed as in JSON, except for the colours of diffs, and carriage returns around a progress bar.
 */
function visible(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}|\p{Bidi_Control}/gu, (character, at: number) => {
    const isColour = character === '\u001b' && /^\[(?:0|1|3[126])m/.test(text.slice(at + 1, at + 6));
    const isAtEdge = character === '\r' && (at === 0 || at === text.length - 1);
    return isColour || isAtEdge ? character : unicodeEscape(character);
  });
}

async function dispatch([name, ...rest]: readonly string[], environment: CommandEnvironment): Promise<number> {
  const { writeOut } = environment;
  if (name === '-v' || name === '--version') writeOut(`${environment.version}\n`);
  else if (name === '-h' || name === '--help' || (name === 'help' && rest[0] === undefined)) {
    const { overviewText } = await import('./commands/help.js');
    writeOut(overviewText(COMMANDS));
  } else if (name === 'help') return dispatch([rest[0] ?? '', '--help'], environment);
  else return runNamed(name, rest, environment);
  return 0;
}

async function runNamed(
  name: string | undefined,
  args: readonly string[],
  environment: CommandEnvironment,
): Promise<number> {
  const definition = await loadCommand(name);
  const input = parseArguments(name ?? '', definition.options, args);
  if (input !== 'help') {
    checkOutputs(definition, input, environment.variables);
    return definition.run(input, environment);
  }
  const { commandText } = await import('./commands/help.js');
  environment.writeOut(commandText(definition));
  return 0;
}

async function loadCommand(name: string | undefined): Promise<CommandDefinition> {
  if (name === undefined || name === '') {
    throw new UsageError('a command is missing; use "orchplane serve", or see "orchplane --help"');
  }
  if (name.startsWith('-')) throw new UsageError(`the option ${name} comes before the command; see "orchplane --help"`);
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry === undefined) throw new UsageError(`unknown command "${name}"; see "orchplane --help"`);
  return (await entry.load()).command;
}

/** The exit code that shells report for a program that SIGPIPE has ended. */
const UNREAD_CODE = 141;

/** Runs the command of this process; its exit code is that of the command. */
export async function main(
  version: string,
  args: readonly string[] = process.argv.slice(2),
  { hasBanner = true }: Partial<Pick<CommandEnvironment, 'hasBanner'>> = {},
): Promise<void> {
  const { write, failed } = openOutput();
  let stopped: Promise<NodeJS.Signals> | undefined;
  let isServer = false;
  const untilStopped = (): Promise<NodeJS.Signals> => {
    stopped ??= untilSignal();
    return stopped;
  };
  const code = await runCommand(args, {
    version,
    stdin: process.stdin,
    writeOut: write,
    writeError: (text) => process.stderr.write(text),
    isTerminal: { out: process.stdout.isTTY === true, error: process.stderr.isTTY === true },
    variables: process.env,
    untilStopped: () => {
      isServer = true;
      return untilStopped();
    },
    untilUnread: async () => {
      await Promise.race([untilStopped(), failed]);
    },
    hasBanner,
  });
  process.exitCode = code;
  if (isServer) return;
  // The last write may fail in a later turn.
  void failed.then((failure) => {
    process.exitCode = failure;
  });
}

interface StandardOutput {
  readonly write: (text: string) => void;
  /**
   * Resolves with an exit code when standard output cannot be written: its reader has exited (`… | head`), or the disk is
   * full, which is printed. Servers continue: they have other clients.
   */
  readonly failed: Promise<number>;
}

function openOutput(): StandardOutput {
  // An error of standard error cannot be printed.
  process.stderr.on('error', () => undefined);
  let fail: (error: NodeJS.ErrnoException) => void = () => undefined;
  const failed = new Promise<number>((resolve) => {
    let isReported = false;
    fail = ({ code, message }) => {
      if (code === 'EPIPE') return resolve(UNREAD_CODE);
      if (!isReported) process.stderr.write(`orchplane: standard output cannot be written: ${onOneLine(message)}\n`);
      isReported = true;
      resolve(2);
    };
  });
  process.stdout.on('error', fail);
  // A process without a console has no descriptor.
  const isFile = process.stdout.fd >= 0 && fstatSync(process.stdout.fd).isFile();
  return {
    write: isFile ? (text) => writeToFile(process.stdout.fd, text, fail) : (text) => process.stdout.write(text),
    failed,
  };
}

/** The stream of Node for files does not notice that a full disk takes only a part of a text. */
function writeToFile(descriptor: number, text: string, fail: (error: NodeJS.ErrnoException) => void): void {
  const bytes = Buffer.from(text);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
  } catch (error) {
    fail(error as NodeJS.ErrnoException);
  }
}

function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      // A second signal exits at once.
      if (isStopping) process.exit(128 + constants.signals[signal]);
      isStopping = true;
      resolve(signal);
    };
    // SIGHUP: the terminal was closed.
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
  });
}
