/**
 * How commands print: JSON, YAML or tables, and colours only on a terminal.
 */
import { writeYaml } from '../../text/yaml/index.js';
import type { CommandEnvironment } from './command.js';

export type OutputFormat = 'table' | 'json' | 'yaml';

/** The option of commands that print values. */
export const OUTPUT_OPTION = {
  output: {
    type: 'string',
    short: 'o',
    choices: ['table', 'json', 'yaml'],
    help: 'the format of the output; default: table',
  },
} as const;

/** A value as JSON or YAML, with a final line feed. */
export function valueText(format: Exclude<OutputFormat, 'table'>, value: unknown): string {
  return format === 'yaml' ? writeYaml(value, { escapeInvisible: true }) : `${JSON.stringify(value, undefined, 2)}\n`;
}

/** A longer cell does not widen its column: every row would be padded to its length. */
const MAX_WIDTH = 256;

/**
 * Rows as aligned lines, with a final line feed; columns are separated by three blanks. `widths` are the least widths of
 * the columns; they grow, so that later rows are aligned with earlier ones.
 */
export function tableText(cells: readonly (readonly string[])[], widths: number[] = []): string {
  const rows = cells.map((row) => row.map((cell) => cell.replaceAll('\n', ' ')));
  for (const row of rows) {
    for (const [at, { length }] of row.entries())
      widths[at] = Math.max(widths[at] ?? 0, length > MAX_WIDTH ? 0 : length);
  }
  const lineOf = (row: readonly string[]): string =>
    row.map((cell, at) => `${cell.padEnd(widths[at] ?? 0)}   `).join('');
  return rows.map((row) => `${lineOf(row).trimEnd()}\n`).join('');
}

/** Whether standard output shows colours. */
export function hasColours({ isTerminal, variables }: CommandEnvironment): boolean {
  return isTerminal.out && (variables['NO_COLOR'] ?? '') === '';
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Reports the lines of a log that its writer did not complete. */
export function tornNote(file: string, lines: number): string {
  return `${file}: ${counted(lines, 'incomplete line')} left out; requests may be missing`;
}
