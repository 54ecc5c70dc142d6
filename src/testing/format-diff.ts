/**
 * Two objects as a unified diff of their YAML, for people to read.
 */
import { writeYaml } from '../text/yaml/index.js';
import { isRecord } from '../util/json.js';
import { type Diffable, type DiffOptions, withoutNoise } from './diff-objects.js';
import { type Line, lineDiff } from './line-diff.js';

export interface FormatDiffOptions extends Pick<DiffOptions, 'all'> {
  /** Colours of a terminal. None unless asked for. */
  readonly colour?: boolean | undefined;
  /** Lines shown around each change; three unless said otherwise. */
  readonly context?: number | undefined;
}

/**
 * The differences as `diff -u` would show them, without a last line end; an empty text when there are none.
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
  /** Lines of each side before it. */
  readonly before: number;
  readonly after: number;
}

/** Changes with the lines around them; what is closer together than that is one hunk. */
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

const CODES: Readonly<Record<Style, string>> = { title: '1', place: '36', '+': '32', '-': '31', ' ': '' };

function painted(style: Style, text: string): string {
  return CODES[style] === '' ? text : `\u001b[${CODES[style]}m${text}\u001b[0m`;
}

function printHunk({ lines, before, after }: Hunk, paint: (style: Style, text: string) => string): string[] {
  const left = lines.filter(({ sign }) => sign !== '+').length;
  const right = lines.filter(({ sign }) => sign !== '-').length;
  const place = `@@ -${range(before, left)} +${range(after, right)} @@`;
  return [paint('place', place), ...lines.map(({ sign, text }) => paint(sign, `${sign}${text}`))];
}

/** As `diff` has it: the first line and how many; nothing stands behind the line before it. */
function range(linesBefore: number, count: number): string {
  if (count === 1) return String(linesBefore + 1);
  return `${count === 0 ? linesBefore : linesBefore + 1},${count}`;
}
