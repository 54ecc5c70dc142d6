/**
 * Formats one value: structs without zero fields, and slices, maps and strings shortened according to the verbosity.
 * upstream: go-cmp cmp/report_reflect.go formatOptions.FormatValue
 */

import { byteLength } from '../../../../../meta/names.js';
import { Quantity } from '../../../../../meta/quantity.js';
import { isPrintable, quote } from '../../../../../text/go/go-text.js';
import type { GoType } from './go-types.js';
import { type GoValue, isZero, quantityStruct } from './go-value.js';
import { braces, DOTS, dots, line, NIL, record, type TextNode, type TextRecord, wrap } from './text.js';

/** Options of formatting, which change from level to level. */
export interface FormatOptions {
  /** Which side of a difference is printed. */
  readonly side: 'both' | 'identical' | 'removed' | 'inserted';
  /** Whether type names precede values. */
  readonly types: 'auto' | 'elide' | 'emit';
  /** Higher values print more. Each level of nesting decreases it. */
  readonly verbosity: number;
  /** Print the fields of a value instead of the result of its Go `String()` method. */
  readonly avoidStringer: boolean;
}

export function oneLevelDown(options: FormatOptions): FormatOptions {
  return { ...options, verbosity: options.verbosity - 1 };
}

/** The maximum number of items: 0, 4, 8, 16, … */
export function itemLimit({ verbosity }: FormatOptions): number {
  return ((1 << levelOf(verbosity)) >> 1) << 2;
}

export function levelOf(verbosity: number): number {
  return Math.min(Math.max(verbosity, 0), 16);
}

export function formatValue(value: GoValue, options: FormatOptions): TextNode {
  const { type } = value;
  const text = options.avoidStringer ? undefined : stringerText(value);
  if (text !== undefined) return formatText('s', text, options);
  switch (type.kind) {
    case 'pointer':
      return value.target ? wrap('&', formatValue(value.target, options)) : NIL;
    case 'quantity':
      return formatValue(quantityStruct(value), options);
    case 'string':
      return withType(type, formatText('', String(value.scalar), options), options);
    case 'int':
    case 'bool':
      return withType(type, line(String(value.scalar)), options);
    case 'struct':
      return withType(type, formatStruct(value, options), options);
    case 'slice':
      return withType(type, value.items ? formatItems(value.items, options) : NIL, options);
    case 'map':
      return withType(type, value.entries ? formatEntries(value.entries, type.namedKeys, options) : NIL, options);
  }
}

/** Types that are printed as text and have a `String()` method. */
const WITH_STRINGER: readonly string[] = ['core.ResourceName', 'resource.infDecAmount'];

/** The result of the Go `String()` method, for types that have one. */
function stringerText({ type, target, scalar }: GoValue): string | undefined {
  if (type.kind === 'string' && WITH_STRINGER.includes(type.name)) return String(scalar);
  const struct = type.kind === 'pointer' ? type.of : type;
  if (type.kind === 'pointer' && struct.kind === 'quantity' && target)
    return Quantity.parse(String(target.scalar)).toString();
  if (type.kind === 'pointer' && struct.kind === 'struct' && struct.name === 'v1.LabelSelector' && target) {
    return selectorText(target);
  }
  if (struct.kind !== 'struct' || struct.name !== 'core.PersistentVolumeClaimTemplate' || target === null)
    return undefined;
  // A claim template has the String() method of its embedded metadata, of which only the beginning is ever printed.
  return '&ObjectMeta{Name:,GenerateName:,Namespace:,SelfLink:,UID:,ResourceVersion:,Generation:0,CreationTimestamp:0001-01-01 00:00:00 +0000 UTC,}';
}

/** The `String()` of a LabelSelector: `&LabelSelector{MatchLabels:…}`. */
function selectorText({ items }: GoValue): string {
  const [labels, expressions] = items ?? [];
  const pairs = [...(labels?.entries ?? [])].map(([key, value]) => `${key}: ${value.scalar},`);
  const requirements = (expressions?.items ?? []).map((requirement) => {
    const [key, operator, values] = requirement.items ?? [];
    const all = (values?.items ?? []).map(({ scalar }) => scalar).join(' ');
    return `LabelSelectorRequirement{Key:${key?.scalar},Operator:${operator?.scalar},Values:[${all}],},`;
  });
  const [matchLabels, matchExpressions] = [`map[string]string{${pairs.join('')}}`, requirements.join('')];
  return `&LabelSelector{MatchLabels:${matchLabels},MatchExpressions:[]LabelSelectorRequirement{${matchExpressions}},}`;
}

function formatStruct({ type, items }: GoValue, options: FormatOptions): TextNode {
  const fields = type.kind === 'struct' ? type.fields : [];
  const below: FormatOptions = { ...oneLevelDown(options), types: 'auto' };
  const records: TextRecord[] = [];
  for (const [index, item] of (items ?? []).entries()) {
    if (isZero(item)) continue;
    if (records.length === itemLimit(options)) {
      records.push(dots());
      break;
    }
    records.push(record(fields[index]?.name ?? '', formatValue(item, below)));
  }
  return braces(records);
}

function formatItems(items: readonly GoValue[], options: FormatOptions): TextNode {
  const below: FormatOptions = { ...oneLevelDown(options), types: 'elide' };
  const limit = itemLimit(options);
  const records = items.slice(0, limit).map((item) => record('', formatValue(item, below)));
  return braces(items.length > limit ? [...records, dots()] : records);
}

function formatEntries(entries: ReadonlyMap<string, GoValue>, namedKeys: boolean, options: FormatOptions): TextNode {
  const below: FormatOptions = { ...oneLevelDown(options), types: 'elide' };
  const limit = itemLimit(options);
  const all = [...entries];
  const records = all.slice(0, limit).map(([key, value]) => record(mapKey(key, namedKeys), formatValue(value, below)));
  return braces(all.length > limit ? [...records, dots()] : records);
}

/** Keys of a type with a `String()` method, such as resource names, have the prefix `s`. */
export function mapKey(key: string, hasStringer: boolean): string {
  return (hasStringer ? 's' : '') + quoted(key);
}

/** Adds the type name to a value if the options require it. */
export function withType(type: GoType, node: TextNode, options: FormatOptions): TextNode {
  if (options.types === 'elide' || type.kind === 'pointer') return node;
  if (options.types === 'auto') {
    const isComposite =
      type.kind === 'struct' || type.kind === 'slice' || type.kind === 'map' || type.kind === 'quantity';
    if (!isComposite || node === NIL || options.side === 'identical') return node;
  }
  return wrap(type.name, inParentheses(node));
}

function inParentheses(node: TextNode): TextNode {
  if (node.type === 'wrap' && node.prefix.startsWith('{') && node.suffix.endsWith('}')) return node;
  return wrap('(', node, ')');
}

/** Quotes a text, and shortens it according to the verbosity. */
function formatText(prefix: string, text: string, { verbosity }: FormatOptions): TextNode {
  const limit = (1 << levelOf(verbosity)) << 5;
  if (byteLength(text) <= limit + DOTS_LENGTH) return line(prefix + quoted(text));
  return line(`${prefix}${quoted(text.slice(0, limit))}...`);
}

const DOTS_LENGTH = DOTS.type === 'line' ? DOTS.text.length : 0;

/** Quotes a text with double quotes, or with backquotes if that avoids escapes. */
export function quoted(text: string): string {
  const escaped = quote(text);
  if (byteLength(escaped) === byteLength(text) + 2) return escaped;
  const raw = [...text].every((character) => character !== '`' && (character === '\t' || isPrintable(character)));
  return raw ? `\`${text}\`` : escaped;
}
