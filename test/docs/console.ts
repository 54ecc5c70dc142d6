/**
 * Runs the console blocks of a page, one after another in one folder. A block with `file=PATH` in its info string is a file of
 * that folder. In a block `console`, lines that begin with `$ ` are commands, and the others are what they print, to
 * standard output and to standard error.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { root } from '../package/manifest.js';
import type { Fence } from './fences.js';

export interface ConsoleStep {
  /** The line of the command in the page. */
  readonly line: number;
  readonly command: string;
  readonly expected: string;
}

/** The commands of a block with what the page says that they print. */
export function stepsOf({ code, line }: Fence): ConsoleStep[] {
  const steps: { line: number; command: string; expected: string }[] = [];
  for (const [index, text] of code.split('\n').entries()) {
    const last = steps.at(-1);
    if (text.startsWith('$ ')) steps.push({ line: line + index, command: text.slice(2), expected: '' });
    else if (last === undefined) throw new Error(`the block at line ${line} does not begin with a command`);
    else last.expected += `${text}\n`;
  }
  return steps;
}

/** A folder in which the package is installed, as after `npm install orchplane zod`. */
export class ConsoleFolder {
  #exitCode = 0;

  constructor(private readonly path: string) {
    mkdirSync(join(path, 'node_modules', '.bin'), { recursive: true });
    for (const name of ['zod', 'typescript'])
      symlinkSync(join(root, 'node_modules', name), join(path, 'node_modules', name));
    symlinkSync(root, join(path, 'node_modules', 'orchplane'));
    const npx = join(path, 'node_modules', '.bin', 'npx');
    writeFileSync(npx, `#!/bin/sh\nshift\nexec '${process.execPath}' '${join(root, 'dist/node/cli.js')}' "$@"\n`);
    chmodSync(npx, 0o755);
  }

  /** Writes the file of a block; false if the block is none. */
  write({ info, code }: Fence): boolean {
    const name = /\bfile=(\S+)/.exec(info)?.[1];
    if (name === undefined) return false;
    mkdirSync(dirname(join(this.path, name)), { recursive: true });
    writeFileSync(join(this.path, name), `${code}\n`);
    return true;
  }

  /** Runs a command and returns what it prints. `$?` is the exit code of the previous one. */
  run({ command }: ConsoleStep): string {
    const path = `${join(this.path, 'node_modules', '.bin')}:${process.env['PATH']}`;
    const script = `(exit ${this.#exitCode}); { ${command}\n} 2>&1`;
    const { stdout, status } = spawnSync('sh', ['-c', script], {
      cwd: this.path,
      encoding: 'utf8',
      env: { ...process.env, PATH: path },
    });
    this.#exitCode = status ?? 0;
    return stdout;
  }
}
