/** Runs a program and collects its output and exit code. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface ProgramOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The content of standard input. */
  readonly input?: string;
}

export interface Ended {
  /** Undefined if the program was stopped, by the test or after the maximum time. */
  readonly code?: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly ended: Promise<Ended>;
  /** Resolves with all output so far once it matches; rejects if the program ends first. */
  output(pattern: RegExp): Promise<string>;
  stop(): void;
}

/** No command needs longer; a hanging command must fail before the test does. */
const LONGEST_MS = 40_000;

export function startProgram(path: string, args: readonly string[], options: ProgramOptions): Running {
  const child = spawn(path, args, { cwd: options.cwd, env: options.env, timeout: LONGEST_MS, killSignal: 'SIGKILL' });
  child.stdout.setEncoding('utf8');
  let stdout = '';
  const waiting = new Set<() => void>();
  child.stdout.on('data', (part: string) => {
    stdout += part;
    for (const check of [...waiting]) check();
  });
  // A program that does not read its input closes it; this is not an error.
  child.stdin.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  child.stdin.end(options.input ?? '');

  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const ended = Promise.all([closed, text(child.stderr)]).then(([code, stderr]) => ({
    ...(code === null ? {} : { code }),
    stdout,
    stderr,
  }));
  return {
    ended,
    output: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!pattern.test(stdout)) return;
          waiting.delete(check);
          resolve(stdout);
        };
        waiting.add(check);
        check();
        ended.then(
          ({ stderr }) => reject(new Error(`ended before its output fitted ${pattern}:\n${stdout}${stderr}`)),
          reject,
        );
      }),
    stop: () => void child.kill('SIGKILL'),
  };
}
