/** A progress bar on standard error. */
import type { CommandEnvironment } from './command.js';

export interface ProgressBar extends Disposable {
  update(done: number, total: number, note: string): void;
}

const BAR_WIDTH = 24;
const LINE_WIDTH = 79;

/** Shows nothing unless standard error is a terminal. The bar is removed at the end. */
export function progressBar({ isTerminal, writeError }: CommandEnvironment): ProgressBar {
  let shown = '';
  const show = (line: string): void => {
    if (!isTerminal.error || line === shown) return;
    shown = line;
    writeError(`\r${line.padEnd(LINE_WIDTH)}`);
  };
  return {
    update(done, total, note) {
      const filled = Math.round((BAR_WIDTH * done) / Math.max(total, 1));
      const bar = '#'.repeat(filled).padEnd(BAR_WIDTH, '.');
      show(`[${bar}] ${done}/${total} ${note}`.slice(0, LINE_WIDTH));
    },
    [Symbol.dispose]() {
      if (shown !== '') writeError(`\r${' '.repeat(LINE_WIDTH)}\r`);
    },
  };
}
