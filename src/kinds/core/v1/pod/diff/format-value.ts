/**
 * One value as text: fields that were set, lists and maps cut short where the reader needs no more.
 */

import { byteLength } from '../../../../../meta/names.js';
import { isPrintable, quote } from '../../../../../text/go/go-text.js';
import type { GoType } from './go-types.js';
import { type GoValue, isZero, quantityStruct } from './go-value.js';
import { braces, DOTS, dots, line, NIL, record, type TextNode, type TextRecord, wrap } from './text.js';

export interface FormatOptions {
  /** Which side is printed: both in one, or one of them. */
  readonly side: 'both' | 'identical' | 'removed' | 'inserted';
  /** Whether types stand before what they are the types of. */
  readonly types: 'auto' | 'elide' | 'emit';
  /** How much is printed; each level down prints less. */
  readonly verbosity: number;
  /** Print what is inside a name instead of the name. */
  readonly avoidStringer: boolean;
}

export function oneLevelDown(options: FormatOptions): FormatOptions {
  return { ...options, verbosity: options.verbosity - 1 };
}

/** 0, 4, 8, 16, … */
export function itemLimit({ verbosity }: FormatOptions): number {
  return ((1 << levelOf(verbosity)) >> 1) << 2;
}

export function levelOf(verbosity: number): number {
  return Math.min(Math.max(verbosity, 0), 16);
}

export function formatValue(value: GoValue, options: FormatOptions): TextNode {
  const { type } = value;
  const text = options.avoidStringer ? undefined : ownText(value);
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

/** What a value says of itself, where it can. */
function ownText({ type, target, scalar }: GoValue): string | undefined {
  if (type.kind === 'string' && type.name === 'core.ResourceName') return String(scalar);
  const struct = type.kind === 'pointer' ? type.of : type;
  if (type.kind === 'pointer' && struct.kind === 'quantity' && target) return String(target.scalar);
  if (type.kind === 'pointer' && struct.kind === 'struct' && struct.name === 'v1.LabelSelector' && target) {
    return selectorText(target);
  }
  if (struct.kind !== 'struct' || struct.name !== 'core.PersistentVolumeClaimTemplate' || target === null)
    return undefined;
  // A claim template speaks with the voice of its metadata, of which the beginning is all that is ever shown.
  return '&ObjectMeta{Name:,GenerateName:,Namespace:,SelfLink:,UID:,ResourceVersion:,Generation:0,}';
}

/** `&LabelSelector{MatchLabels:…}`. */
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

/** Names of resources know how to print themselves, which shows. */
export function mapKey(key: string, named: boolean): string {
  return (named ? 's' : '') + quoted(key);
}

/** Puts the type before the value where the options ask for it. */
export function withType(type: GoType, node: TextNode, options: FormatOptions): TextNode {
  if (options.types === 'elide' || type.kind === 'pointer') return node;
  if (options.types === 'auto') {
    const composed = type.kind === 'struct' || type.kind === 'slice' || type.kind === 'map' || type.kind === 'quantity';
    if (!composed || node === NIL || options.side === 'identical') return node;
  }
  return wrap(type.name, inParentheses(node));
}

function inParentheses(node: TextNode): TextNode {
  if (node.type === 'wrap' && node.prefix.startsWith('{') && node.suffix.endsWith('}')) return node;
  return wrap('(', node, ')');
}

/** Long texts are cut. */
function formatText(prefix: string, text: string, { verbosity }: FormatOptions): TextNode {
  const limit = (1 << levelOf(verbosity)) << 5;
  if (byteLength(text) <= limit + DOTS_LENGTH) return line(prefix + quoted(text));
  return line(`${prefix}${quoted(text.slice(0, limit))}...`);
}

const DOTS_LENGTH = DOTS.type === 'line' ? DOTS.text.length : 0;

/** In double quotes, or in backquotes where that saves escapes. */
export function quoted(text: string): string {
  const escaped = quote(text);
  if (byteLength(escaped) === byteLength(text) + 2) return escaped;
  const raw = [...text].every((character) => character !== '`' && (character === '\t' || isPrintable(character)));
  return raw ? `\`${text}\`` : escaped;
}
