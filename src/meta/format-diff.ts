/**
 * Prints the differences of two objects as a unified diff of their YAML.
 */
import { writeYaml } from '../text/yaml/index.js';
import { isRecord } from '../util/json.js';

/** For more pairs of lines than this, the whole middle part is shown as replaced. */
const MOST_PAIRS = 4_000_000;

const same = (text: string): Line => ({ sign: ' ', text });

const gone = (text: string): Line => ({ sign: '-', text });

const come = (text: string): Line => ({ sign: '+', text });

const CODES: Readonly<Record<Style, string>> = { title: '1', place: '36', '+': '32', '-': '31', ' ': '' };

/** An API object, or no object. */
export type Diffable = object | null | undefined;

/** The object without the metadata that changes with nearly every write, unless `isAll` is true. */
export function withoutNoise(object: object, isAll: boolean): Readonly<Record<string, unknown>> {
  const record = object as Readonly<Record<string, unknown>>;
  const { metadata } = record;
  if (isAll || !isRecord(metadata)) return record;
  const { managedFields: _managers, resourceVersion: _version, ...rest } = metadata;
  return { ...record, metadata: rest };
}

export interface FormatDiffOptions {
  /** Includes `metadata.managedFields` and `metadata.resourceVersion`, which change with nearly every write. */
  readonly all?: boolean | undefined;
  /** Uses terminal colours. Defaults to false. */
  readonly colour?: boolean | undefined;
  /** The number of context lines around each change. Defaults to 3. */
  readonly context?: number | undefined;
}

/**
 * A unified diff (`diff -u`) without a final line feed; empty if there are no differences.
 *
 * @example
 * for (const { previous, object } of cluster.history(ConfigMap, 'web')) console.log(formatDiff(previous, object));
 */
export function formatDiff(before: Diffable, after: Diffable, options: FormatDiffOptions = {}): string {
  const { colour = false, context = 3, all = false } = options;
  const lines = lineDiff(linesOf(before, all), linesOf(after, all));
  const hunks = hunksOf(lines, context);
  if (hunks.length === 0) return '';
  const paint = colour ? painted : (_style: Style, text: string) => text;
  const header = [paint('title', `--- ${titleOf(before)}`), paint('title', `+++ ${titleOf(after)}`)];
  return [...header, ...hunks.flatMap((hunk) => printHunk(hunk, paint))].join('\n');
}

function linesOf(object: Diffable, isAll: boolean): readonly string[] {
  if (object === null || object === undefined) return [];
  const text = writeYaml(withoutNoise(object, isAll));
  return text.slice(0, -1).split('\n');
}

/** `ConfigMap default/web, version 12` */
function titleOf(object: Diffable): string {
  if (!isRecord(object)) return 'nothing';
  const { kind, metadata } = object;
  const { name, namespace, resourceVersion } = isRecord(metadata) ? metadata : {};
  const place = [namespace, name].filter((part) => typeof part === 'string').join('/');
  const version = typeof resourceVersion === 'string' ? `, version ${resourceVersion}` : '';
  return `${typeof kind === 'string' ? kind : 'object'}${place === '' ? '' : ` ${place}`}${version}`;
}

interface Hunk {
  readonly lines: readonly Line[];
  /** The number of lines before the hunk on each side. */
  readonly before: number;
  readonly after: number;
}

/** The changes with their context lines; changes with overlapping context form one hunk. */
function hunksOf(lines: readonly Line[], context: number): readonly Hunk[] {
  const shown = new Set<number>();
  lines.forEach(({ sign }, index) => {
    if (sign === ' ') return;
    for (let at = Math.max(0, index - context); at <= Math.min(lines.length - 1, index + context); at++) shown.add(at);
  });
  const hunks: { lines: Line[]; before: number; after: number }[] = [];
  let [before, after] = [0, 0];
  lines.forEach((line, index) => {
    if (shown.has(index)) {
      if (!shown.has(index - 1)) hunks.push({ lines: [], before, after });
      hunks[hunks.length - 1]?.lines.push(line);
    }
    if (line.sign !== '+') before++;
    if (line.sign !== '-') after++;
  });
  return hunks;
}

type Style = 'title' | 'place' | '+' | '-' | ' ';

function painted(style: Style, text: string): string {
  return CODES[style] === '' ? text : `\u001b[${CODES[style]}m${text}\u001b[0m`;
}

function printHunk({ lines, before, after }: Hunk, paint: (style: Style, text: string) => string): string[] {
  const left = lines.filter(({ sign }) => sign !== '+').length;
  const right = lines.filter(({ sign }) => sign !== '-').length;
  const place = `@@ -${range(before, left)} +${range(after, right)} @@`;
  return [paint('place', place), ...lines.map(({ sign, text }) => paint(sign, `${sign}${text}`))];
}

/** The range in `diff` format: the first line and the count; an empty range names the line before it. */
function range(linesBefore: number, count: number): string {
  if (count === 1) return String(linesBefore + 1);
  return `${count === 0 ? linesBefore : linesBefore + 1},${count}`;
}

/**
 * Two lists of lines → the shortest way from one to the other, as lines that stay, go and come.
 */

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

export function lineDiff(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const left = before.slice(start, before.length - end);
  const right = after.slice(start, after.length - end);
  return [
    ...before.slice(0, start).map(same),
    ...(left.length * right.length > MOST_PAIRS ? [...left.map(gone), ...right.map(come)] : shortest(left, right)),
    ...before.slice(before.length - end).map(same),
  ];
}

/**
 * Uses the longest common subsequence. `lengths[i][j]` is its length for the lines from i and from j on, so a walk from the
 * start chooses the longer alternative at each step. Removed lines precede added lines.
 */
function shortest(left: readonly string[], right: readonly string[]): Line[] {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      lengths[i * width + j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [before, after] = [left[i], right[j]];
    if (before !== undefined && before === after) {
      lines.push(same(before));
      i++;
      j++;
    } else if (before !== undefined && (after === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(gone(before));
      i++;
    } else if (after !== undefined) {
      lines.push(come(after));
      j++;
    }
  }
  return lines;
}
