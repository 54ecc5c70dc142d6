/**
 * Collects unknown and duplicate fields in document order. Runs only if decoding noticed any. spec: Parameters
 */
import { quote } from '../text/go/go-text.js';
import { BoundedTexts } from '../util/bounded-texts.js';
import type { DuplicateKeys, ParsedBody } from '../util/json.js';
import { isRecord } from '../util/json.js';
import { type SchemaNode, uniform } from './schema-node.js';

/** Further findings are not listed, to bound the size of the response. */
const MAX_FINDINGS = 100;

/** `unknown field "spec.foo"`, `duplicate field "metadata.name"`; without duplicates. */
export function decodingFindings(schema: SchemaNode, body: ParsedBody): readonly string[] {
  const found = new BoundedTexts();
  visit(schema, body.value, '', { found, duplicates: body.duplicates });
  return found.texts;
}

/** `duplicate field "data.x"` for every repeated key of a document without a schema (a merge patch). */
export function duplicateFindings(body: ParsedBody): readonly string[] {
  return body.duplicates === undefined ? [] : decodingFindings(ANYTHING, body);
}

interface Search {
  readonly found: BoundedTexts;
  readonly duplicates: DuplicateKeys | undefined;
}

function isFull({ found }: Search): boolean {
  return found.isFull || found.texts.length >= MAX_FINDINGS;
}

function note(search: Search, problem: string, path: string): void {
  if (isFull(search)) return;
  const text = `${problem} field ${quote(path)}`;
  if (!search.found.texts.includes(text)) search.found.add(text);
}

function visit(node: SchemaNode, value: unknown, path: string, search: Search): void {
  if (isFull(search)) return;
  if (Array.isArray(value)) {
    const items: SchemaNode = node.type === 'list' ? node.items : node;
    for (const [index, item] of value.entries()) visit(items, item, `${path}[${index}]`, search);
    return;
  }
  if (!isRecord(value)) return;
  const repeated = search.duplicates?.get(value);
  for (const key of Object.keys(value)) {
    if (value[key] === undefined) continue;
    if (isFull(search)) return;
    const keyed = path === '' ? key : `${path}.${key}`;
    const child = childOf(node, key);
    if (child === undefined) {
      note(search, 'unknown', keyed);
      continue;
    }
    // A duplicate is reported before anything inside it.
    for (const [index, one] of [...(repeated?.get(key) ?? []), value[key]].entries()) {
      if (index > 0) note(search, 'duplicate', keyed);
      visit(child, one, keyed, search);
    }
  }
}

function childOf(node: SchemaNode, key: string): SchemaNode | undefined {
  if (node.type === 'map') return node.values;
  if (node.type !== 'object') return ANYTHING;
  return node.fields.get(key)?.node ?? (node.preserveUnknown ? ANYTHING : undefined);
}

/** The schema that accepts any value. */
export const ANYTHING: SchemaNode = uniform({ type: 'any', goType: '', atomic: true });
