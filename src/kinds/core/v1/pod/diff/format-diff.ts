/**
 * A tree of differences as text: what differs with its surroundings, and dots for what is the same.
 */
import type { DiffNode, DiffRecord } from './compare.js';
import { type FormatOptions, formatValue, itemLimit, levelOf, lower, mapKey, withType } from './format-value.js';
import { isZero } from './go-value.js';
import { braces, dots, NIL, printText, record, type TextNode, type TextRecord, wrap } from './text.js';
import { canChunk, formatChunks } from './text-chunks.js';

/** The difference as the reference server prints it, with a newline at its end. */
export function printDiff(node: DiffNode): string {
  return printText(formatDiff(node, { side: 'both', types: 'auto', verbosity: 0, inside: false }));
}

const LEAST_VERBOSITY = 3;

export function formatDiff(node: DiffNode, given: FormatOptions): TextNode {
  const options: FormatOptions =
    given.side === 'identical'
      ? { ...given, verbosity: 1 }
      : { ...given, verbosity: Math.max(given.verbosity, LEAST_VERBOSITY) };
  if (canChunk(node, options)) return formatChunks(node, options);
  if (node.depth === 0) return formatLeaf(node, options);
  if (node.target !== undefined) return wrap('&', formatDiff(node.target, options));
  return withType(node.type, formatRecords(node, options), options);
}

function formatLeaf(node: DiffNode, options: FormatOptions): TextNode {
  const { left, right } = node;
  const shown = options.side === 'removed' ? left : options.side === 'inserted' ? right : (right ?? left);
  if (options.side !== 'both' || node.different === 0) return shown === undefined ? NIL : formatValue(shown, options);
  // Only at the top: below it, a leaf that differs is printed side by side by its holder.
  const elided: FormatOptions = { ...options, types: 'elide' };
  const records: TextRecord[] = [];
  if (left !== undefined) records.push(record('', formatValue(left, elided), '-'));
  if (right !== undefined) records.push(record('', formatValue(right, elided), '+'));
  return withType(node.type, { type: 'list', records }, { ...options, types: 'emit' });
}

function formatRecords(node: DiffNode, given: FormatOptions): TextNode {
  const { type, records = [] } = node;
  const limit = given.side === 'identical' ? itemLimit(given) : (1 << levelOf(given.verbosity)) << 1;
  const options: FormatOptions = { ...lower(given), types: type.kind === 'struct' ? 'auto' : 'elide' };
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

/** All of one side, but for fields that nobody has set. */
function oneSide(records: readonly DiffRecord[], about: Listing & { readonly sparse: boolean }): TextNode {
  const { options, limit, keyOf, sparse } = about;
  const out: TextRecord[] = [];
  for (const one of records) {
    if (out.length === limit) {
      out.push(dots());
      break;
    }
    if (sparse && isUnset(one.node, options.side)) continue;
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

/** So many equal neighbours of a difference are shown. */
const CONTEXT = 2;

function bothSides(records: readonly DiffRecord[], about: Listing & { readonly name: string }): TextNode {
  const { options, limit, keyOf, name } = about;
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
      out.push(...formatEqual(group.all, { ...about, first: index === 0, last: index === groups.length - 1 }));
      continue;
    }
    for (const one of group.all) out.push(...formatUnequal(one.node, keyOf(one), options));
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
  about: Listing & { readonly name: string; readonly first: boolean; readonly last: boolean },
): TextRecord[] {
  const { options, keyOf, name, first, last } = about;
  const leading = first ? 0 : Math.min(CONTEXT, all.length);
  let trailing = last ? 0 : Math.min(CONTEXT, all.length - leading);
  // Dots for a single record would save nothing.
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
  // Anything that branches shows its own differences.
  if (node.descendants !== node.depth) return [record(key, formatDiff(node, options))];
  const show = (side: 'removed' | 'inserted', verbosity: number, inside: boolean) =>
    formatDiff(node, { ...options, side, verbosity, inside });
  const base = levelOf(options.verbosity);
  let [removed, inserted] = [show('removed', options.verbosity, false), show('inserted', options.verbosity, false)];
  const whole = node.left !== undefined && node.right !== undefined;
  // Two that look the same are printed again, and more of them each time, until they do not.
  for (let i = 0; i <= MAX_PRESET && whole && JSON.stringify(removed) === JSON.stringify(inserted); i++) {
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
