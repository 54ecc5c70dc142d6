/**
 * Formats a tree of differences: changed parts with some context, and dots for equal parts. Long strings and lists of
 * numbers are split into chunks, of which equal ones are printed once.
 * upstream: go-cmp cmp/report_compare.go formatOptions.FormatDiff, cmp/report_slices.go formatOptions.FormatDiffSlice
 */

import { byteLength } from '../../../../../meta/names.js';
import { append } from '../../../../../util/arrays.js';
import type { DiffNode, DiffRecord } from './compare.js';
import { type Edit, editScript } from './edit-script.js';
import {
  type FormatOptions,
  formatValue,
  itemLimit,
  levelOf,
  mapKey,
  oneLevelDown,
  quoted,
  withType,
} from './format-value.js';
import { isZero } from './go-value.js';
import { braces, dots, line, NIL, printText, record, type TextNode, type TextRecord, wrap } from './text.js';

const MIN_CHUNKED_LENGTH = 32;

/** The number of equal chunks that are printed before and after a difference. */
const CHUNK_CONTEXT = 2;

/** Prints the diff with a trailing newline. */
export function printDiff(node: DiffNode): string {
  return printText(formatDiff(node, { side: 'both', types: 'auto', verbosity: 0, avoidStringer: false }));
}

const MIN_VERBOSITY = 3;

export function formatDiff(node: DiffNode, given: FormatOptions): TextNode {
  const options: FormatOptions =
    given.side === 'identical'
      ? { ...given, verbosity: 1 }
      : { ...given, verbosity: Math.max(given.verbosity, MIN_VERBOSITY) };
  if (canChunk(node, options)) return formatChunks(node, options);
  if (node.depth === 0) return formatLeaf(node, options);
  if (node.target !== undefined) return wrap('&', formatDiff(node.target, options));
  return withType(node.type, formatRecords(node, options), options);
}

function formatLeaf(node: DiffNode, options: FormatOptions): TextNode {
  const { left, right } = node;
  const value = options.side === 'removed' ? left : options.side === 'inserted' ? right : (right ?? left);
  if (options.side !== 'both' || node.different === 0) return value === undefined ? NIL : formatValue(value, options);
  // Only the root gets here: different leaves below are printed side by side by formatUnequal.
  const elided: FormatOptions = { ...options, types: 'elide' };
  const records: TextRecord[] = [];
  if (left !== undefined) records.push(record('', formatValue(left, elided), '-'));
  if (right !== undefined) records.push(record('', formatValue(right, elided), '+'));
  return withType(node.type, { type: 'list', records }, { ...options, types: 'emit' });
}

function formatRecords(node: DiffNode, given: FormatOptions): TextNode {
  const { type, records = [] } = node;
  const limit = given.side === 'identical' ? itemLimit(given) : (1 << levelOf(given.verbosity)) << 1;
  const options: FormatOptions = { ...oneLevelDown(given), types: type.kind === 'struct' ? 'auto' : 'elide' };
  const keyOf = ({ key }: DiffRecord) => (type.kind === 'map' ? mapKey(key, type.namedKeys) : key);
  if (given.side !== 'both') return oneSide(records, { options, limit, keyOf, sparse: type.kind === 'struct' });
  const name = type.kind === 'struct' ? 'field' : type.kind === 'map' ? 'entry' : 'element';
  return bothSides(records, { options, limit, keyOf, name });
}

interface Listing {
  readonly options: FormatOptions;
  readonly limit: number;
  readonly keyOf: (one: DiffRecord) => string;
}

/** Formats one side. `sparse` omits fields with zero values. */
function oneSide(records: readonly DiffRecord[], listing: Listing & { readonly sparse: boolean }): TextNode {
  const { options, limit, keyOf, sparse } = listing;
  const out: TextRecord[] = [];
  for (const one of records) {
    if (out.length === limit) {
      out.push(dots());
      break;
    }
    if (sparse && isUnset(one.node, options.side)) continue;
    // An item or entry that only the other side has.
    const { left, right } = one.node;
    if ((options.side === 'removed' ? left : options.side === 'inserted' ? right : (right ?? left)) === undefined)
      continue;
    out.push(record(keyOf(one), formatDiff(one.node, options)));
  }
  return braces(out);
}

function isUnset({ left, right }: DiffNode, side: FormatOptions['side']): boolean {
  const leftUnset = left === undefined || isZero(left);
  const rightUnset = right === undefined || isZero(right);
  if (side === 'removed') return leftUnset;
  return side === 'inserted' ? rightUnset : leftUnset || rightUnset;
}

/** The number of equal records that are printed before and after a difference. */
const CONTEXT = 2;

function bothSides(records: readonly DiffRecord[], listing: Listing & { readonly name: string }): TextNode {
  const { options, limit, keyOf, name } = listing;
  const out: TextRecord[] = [];
  const groups = groupsOf(records);
  let differences = 0;
  for (const [index, group] of groups.entries()) {
    if (differences >= limit) {
      out.push(
        dots(
          countText(
            groups.slice(index).flatMap(({ all }) => all),
            name,
          ),
        ),
      );
      break;
    }
    if (group.equal) {
      append(out, formatEqual(group.all, { ...listing, first: index === 0, last: index === groups.length - 1 }));
      continue;
    }
    for (const one of group.all) append(out, formatUnequal(one.node, keyOf(one), options));
    differences += group.all.length;
  }
  return braces(out);
}

interface Group {
  readonly equal: boolean;
  readonly all: DiffRecord[];
}

function groupsOf(records: readonly DiffRecord[]): Group[] {
  const groups: Group[] = [];
  for (const one of records) {
    const equal = one.node.different === 0;
    const last = groups.at(-1);
    if (last?.equal === equal) last.all.push(one);
    else groups.push({ equal, all: [one] });
  }
  return groups;
}

function formatEqual(
  all: readonly DiffRecord[],
  listing: Listing & { readonly name: string; readonly first: boolean; readonly last: boolean },
): TextRecord[] {
  const { options, keyOf, name, first, last } = listing;
  const leading = first ? 0 : Math.min(CONTEXT, all.length);
  let trailing = last ? 0 : Math.min(CONTEXT, all.length - leading);
  // Dots for a single record would save no line.
  if (all.length - leading - trailing === 1) trailing++;
  const show = (one: DiffRecord) => record(keyOf(one), formatDiff(one.node, { ...options, side: 'identical' }));
  const hidden = all.slice(leading, all.length - trailing);
  return [
    ...all.slice(0, leading).map(show),
    ...(hidden.length === 0 ? [] : [dots(countText(hidden, name))]),
    ...all.slice(all.length - trailing).map(show),
  ];
}

const MAX_PRESET = 6;

function formatUnequal(node: DiffNode, key: string, options: FormatOptions): TextRecord[] {
  if (canChunk(node, options)) return [record(key, formatChunks(node, options))];
  // Nodes with branches print their own differences.
  if (node.descendants !== node.depth) return [record(key, formatDiff(node, options))];
  const show = (side: 'removed' | 'inserted', verbosity: number, inside: boolean) =>
    formatDiff(node, { ...options, side, verbosity, avoidStringer: inside });
  const base = levelOf(options.verbosity);
  let [removed, inserted] = [show('removed', options.verbosity, false), show('inserted', options.verbosity, false)];
  const hasBothSides = node.left !== undefined && node.right !== undefined;
  // If both sides print the same text, print them again with increasing verbosity until they differ.
  for (let i = 0; i <= MAX_PRESET && hasBothSides && JSON.stringify(removed) === JSON.stringify(inserted); i++) {
    removed = show('removed', base + 2 * i, i > 0);
    inserted = show('inserted', base + 2 * i, i > 0);
  }
  return [
    ...(node.left === undefined ? [] : [record(key, removed, '-')]),
    ...(node.right === undefined ? [] : [record(key, inserted, '+')]),
  ];
}

/** `2 identical fields`, `1 removed and 3 modified elements`. */
function countText(records: readonly DiffRecord[], name: string): string {
  const counts = { identical: 0, removed: 0, inserted: 0, modified: 0 };
  for (const { node } of records) {
    if (node.different === 0) counts.identical++;
    else if (node.right === undefined) counts.removed++;
    else if (node.left === undefined) counts.inserted++;
    else counts.modified++;
  }
  const parts = Object.entries(counts).flatMap(([label, count]) => (count > 0 ? [`${count} ${label}`] : []));
  const plural = records.length > 1 ? `${name}s`.replace(/ys$/, 'ies') : name;
  const listed =
    parts.length <= 2 ? parts.join(' and ') : `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1) ?? ''}`;
  return `${listed} ${plural}`;
}

/** True for different strings or lists of numbers that are long enough to be split into chunks. */
function canChunk(node: DiffNode, { side }: FormatOptions): boolean {
  const { type, left, right } = node;
  if (side !== 'both' || node.different === 0 || left === undefined || right === undefined) return false;
  if (type.kind === 'string' && typeof left.scalar === 'string' && typeof right.scalar === 'string') {
    return byteLength(left.scalar) >= MIN_CHUNKED_LENGTH && byteLength(right.scalar) >= MIN_CHUNKED_LENGTH;
  }
  if (type.kind !== 'slice' || type.of.kind !== 'int' || !left.items?.length || !right.items?.length) return false;
  if (node.different > node.same) return true;
  return left.items.length >= MIN_CHUNKED_LENGTH && right.items.length >= MIN_CHUNKED_LENGTH;
}

function formatChunks({ type, left, right }: DiffNode, options: FormatOptions): TextNode {
  if (type.kind === 'string') {
    const texts = [[...String(left?.scalar)], [...String(right?.scalar)]] as const;
    const show = (part: readonly string[]) => quoted(part.join(''));
    const list: TextNode = { type: 'list', records: formatRuns(texts, { size: 64, name: 'byte', show, options }) };
    return wrap('strings.Join(', wrap('{', list, '}'), ', "")');
  }
  const texts = [
    (left?.items ?? []).map(({ scalar }) => String(scalar)),
    (right?.items ?? []).map(({ scalar }) => String(scalar)),
  ] as const;
  const show = (part: readonly string[]) => part.join(', ');
  const records = formatRuns(texts, { size: 8, name: elementName(type), show, options });
  return withType(type, wrap('{', { type: 'list', records }, '}'), options);
}

function elementName(type: DiffNode['type']): string {
  return type.kind === 'slice' && type.of.kind === 'int' ? type.of.name : 'element';
}

interface Run {
  same: number;
  removed: number;
  inserted: number;
}

function formatRuns(
  [left, right]: readonly [readonly string[], readonly string[]],
  chunking: {
    readonly size: number;
    readonly name: string;
    readonly show: (part: readonly string[]) => string;
    readonly options: FormatOptions;
  },
): TextRecord[] {
  const { size, name, show, options } = chunking;
  const different = { same: 0, different: 2 };
  const edits = editScript(left.length, right.length, (x, y) =>
    left[x] === right[y] ? { same: 1, different: 0 } : different,
  );
  const runs = merged(runsOf(edits), Math.floor(size / 4));
  const limit = (1 << levelOf(options.verbosity)) << 2;
  const out: TextRecord[] = [];
  const put = (part: readonly string[], mark: '' | '-' | '+') => {
    for (let start = 0; start < part.length; start += size) {
      out.push(record('', line(show(part.slice(start, start + size))), mark));
    }
  };
  let [x, y, differences] = [0, 0, 0];
  for (const [index, run] of runs.entries()) {
    if (differences >= limit) {
      out.push(dots(`${runs.slice(index).reduce((sum, one) => sum + one.same, 0)} identical ${name}s`));
      break;
    }
    if (run.removed === 0 && run.inserted === 0) {
      const leading = index === 0 ? 0 : Math.min(size * CHUNK_CONTEXT, run.same);
      let trailing = index === runs.length - 1 ? 0 : Math.min(size * CHUNK_CONTEXT, run.same - leading);
      if (run.same - leading - trailing <= size) trailing = run.same - leading;
      const hidden = run.same - leading - trailing;
      put(left.slice(x, x + leading), '');
      if (hidden > 0) out.push(dots(`${hidden} identical ${name}${hidden > 1 ? 's' : ''}`));
      put(left.slice(x + run.same - trailing, x + run.same), '');
      x += run.same;
      y += run.same;
      continue;
    }
    const [removed, inserted] = [run.same + run.removed, run.same + run.inserted];
    put(left.slice(x, x + removed), '-');
    put(right.slice(y, y + inserted), '+');
    x += removed;
    y += inserted;
    differences += removed + inserted;
  }
  return out;
}

function runsOf(edits: readonly Edit[]): Run[] {
  const runs: Run[] = [];
  let equal: boolean | undefined;
  for (const edit of edits) {
    const isEqual = edit === 'identity';
    if (isEqual !== equal) runs.push({ same: 0, removed: 0, inserted: 0 });
    equal = isEqual;
    const run = runs.at(-1);
    if (run === undefined) continue;
    if (isEqual) run.same++;
    if (edit === 'removed' || edit === 'modified') run.removed++;
    if (edit === 'inserted' || edit === 'modified') run.inserted++;
  }
  return runs;
}

/** Merges short equal runs into the differences around them. */
function merged(runs: readonly Run[], shortest: number): Run[] {
  const out: Run[] = [];
  for (const [index, run] of runs.entries()) {
    const differs = run.removed > 0 || run.inserted > 0;
    const last = out.at(-1);
    const lastDiffers = last !== undefined && (last.removed > 0 || last.inserted > 0);
    const short = !differs && run.same <= shortest && lastDiffers && index < runs.length - 1;
    if (last !== undefined && lastDiffers && (short || differs)) {
      last.same += run.same;
      last.removed += run.removed;
      last.inserted += run.inserted;
    } else out.push({ ...run });
  }
  return out;
}
