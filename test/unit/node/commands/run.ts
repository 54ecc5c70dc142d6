/** Runs a command in this process, with a captured environment. */
import { Readable } from 'node:stream';
import type { CommandEnvironment } from '../../../../src/node/commands/command.js';
import { runCommand } from '../../../../src/node/run-command.js';

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions extends Partial<Pick<CommandEnvironment, 'variables' | 'isTerminal'>> {
  /** The text of standard input. */
  readonly stdin?: string;
  /** The command stops when it resolves; default: it does not. */
  readonly stop?: Promise<void>;
  /** Called with all that was written so far to standard output and to standard error. */
  readonly onOutput?: (out: string, err: string) => void;
}

/** Runs the command line; `args` may be one text that is split at blanks. */
export async function run(args: string | readonly string[], options: RunOptions = {}): Promise<CommandResult> {
  let [out, err] = ['', ''];
  const { stop = new Promise<void>(() => undefined), variables = {}, onOutput = () => undefined } = options;
  const code = await runCommand(typeof args === 'string' ? args.split(' ').filter((arg) => arg !== '') : args, {
    version: '1.2.3',
    stdin: Readable.from([options.stdin ?? '']),
    writeOut: (text) => {
      out += text;
      onOutput(out, err);
    },
    writeError: (text) => {
      err += text;
      onOutput(out, err);
    },
    isTerminal: options.isTerminal ?? { out: false, error: false },
    variables,
    untilStopped: () => stop.then(() => 'SIGTERM'),
    untilUnread: () => stop,
    hasBanner: true,
  });
  return { code, out, err };
}
