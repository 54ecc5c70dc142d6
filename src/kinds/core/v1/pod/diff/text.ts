/**
 * Layout of diff text: nodes that fit are folded into one line; others are spread over several lines, with a column for
 * marks (`-`, `+`) and aligned keys and comments. upstream: go-cmp cmp/report_text.go textList
 */
import { byteLength } from '../../../../../meta/names.js';

export type Mark = '' | '-' | '+';

/** A part of the text that is laid out by {@link printText}. */
export type TextNode =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'wrap'; readonly prefix: string; readonly inner: TextNode; readonly suffix: string }
  | { readonly type: 'list'; readonly records: readonly TextRecord[] };

export interface TextRecord {
  readonly mark: Mark;
  /** Empty for items of a list. */
  readonly key: string;
  readonly value: TextNode;
  /** True for the ellipsis of omitted records, which has no trailing comma. */
  readonly dots?: boolean;
  readonly comment?: string;
}

export const DOTS: TextNode = { type: 'line', text: '...' };
export const NIL: TextNode = { type: 'line', text: 'nil' };

export function line(text: string): TextNode {
  return { type: 'line', text };
}

export function wrap(prefix: string, inner: TextNode, suffix = ''): TextNode {
  return { type: 'wrap', prefix, inner, suffix };
}

export function braces(records: readonly TextRecord[]): TextNode {
  return wrap('{', { type: 'list', records }, '}');
}

export function record(key: string, value: TextNode, mark: Mark = ''): TextRecord {
  return { mark, key, value };
}

export function dots(comment = ''): TextRecord {
  return { mark: '', key: '', value: DOTS, dots: true, ...(comment === '' ? {} : { comment }) };
}

/** Prints a node, indented by the two columns of the marks, with a trailing newline. */
export function printText(node: TextNode): string {
  return `${indent('', 0)}${expand(fold(node, ''), '', 0)}\n`;
}

/** Removed or inserted text that is longer is spread over several lines. */
const MAX_COLUMNS = 80;

function fold(node: TextNode, mark: Mark): TextNode {
  if (node.type === 'line') return node;
  if (node.type === 'wrap') {
    const inner = fold(node.inner, mark);
    return inner.type === 'line' ? line(node.prefix + inner.text + node.suffix) : { ...node, inner };
  }
  const records = node.records.map((one) => ({ ...one, value: fold(one.value, one.mark || mark) }));
  const parts = records.map(({ key, value }) => (value.type === 'line' ? withKey(key, value.text) : undefined));
  const folded = parts.join(', ');
  const spread =
    records.some((one, index) => one.mark !== '' || parts[index] === undefined || one.comment !== undefined) ||
    (mark !== '' && byteLength(folded) > MAX_COLUMNS);
  return spread ? { type: 'list', records } : line(folded);
}

function withKey(key: string, text: string): string {
  return key === '' ? text : `${key}: ${text}`;
}

function expand(node: TextNode, mark: Mark, depth: number): string {
  if (node.type === 'line') return node.text;
  if (node.type === 'wrap') return node.prefix + expand(node.inner, mark, depth) + node.suffix;
  const { records } = node;
  const body = isPlain(records) ? batched(records, mark, depth + 1) : rows(records, mark, depth + 1);
  return `${body}\n${indent(mark, depth)}`;
}

function indent(mark: Mark, depth: number): string {
  return `${mark === '' ? ' ' : mark} ${'\t'.repeat(depth)}`;
}

function isPlain(records: readonly TextRecord[]): boolean {
  return records.every(
    ({ mark, key, value, comment }) => mark === '' && key === '' && value.type === 'line' && comment === undefined,
  );
}

/** Prints several short items per line. */
function batched(records: readonly TextRecord[], mark: Mark, depth: number): string {
  const lines: string[] = [];
  let batch = '';
  for (const { value } of records) {
    const text = value.type === 'line' ? value.text : '';
    if (batch !== '' && byteLength(batch) + byteLength(text) + 2 > MAX_COLUMNS) {
      lines.push(batch);
      batch = '';
    }
    batch += `${text}, `;
  }
  if (batch !== '') lines.push(batch);
  return lines.map((text) => `\n${indent(mark, depth)}${text.trimEnd()}`).join('');
}

function rows(records: readonly TextRecord[], mark: Mark, depth: number): string {
  const keyPads = pads(records, keyLength);
  const valuePads = pads(records, valueLength);
  return records
    .map((one, index) => {
      const own = one.mark || mark;
      const key = one.key === '' ? '' : `${one.key}: `;
      const value = expand(one.value, own, depth);
      const comma = one.dots === true ? '' : ',';
      const comment = one.comment === undefined ? '' : ` // ${one.comment}`;
      return `\n${indent(own, depth)}${key}${' '.repeat(keyPads[index] ?? 0)}${value}${comma}${' '.repeat(valuePads[index] ?? 0)}${comment}`;
    })
    .join('');
}

/** Only values on one line are aligned. */
function keyLength({ key, value }: TextRecord): number | undefined {
  return key === '' || value.type !== 'line' ? undefined : [...key].length;
}

function valueLength({ value, comment }: TextRecord): number | undefined {
  if (value.type !== 'line' || value.text === '...' || comment === undefined) return undefined;
  return [...value.text].length;
}

/** The padding of each record to the longest of its run. A record without a length ends a run. */
function pads(records: readonly TextRecord[], length: (one: TextRecord) => number | undefined): number[] {
  const lengths = records.map(length);
  const result = lengths.map(() => 0);
  let start = 0;
  for (let end = 0; end <= lengths.length; end++) {
    if (lengths[end] !== undefined) continue;
    const run = lengths.slice(start, end).map((one) => one ?? 0);
    const longest = run.reduce((most, one) => Math.max(most, one), 0);
    for (const [offset, one] of run.entries()) result[start + offset] = longest - one;
    start = end + 1;
  }
  return result;
}
