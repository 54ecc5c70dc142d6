/**
 * The YAML codec: what people ask for who want to read an answer. There are no watches in YAML.
 */

import { compareKeys, writeYaml } from '../text/yaml/index.js';
import { decodeUtf8 } from '../util/utf8.js';
import type { Codec } from './codec.js';
import { yamlDocumentBody } from './yaml.js';

export const yaml: Codec = {
  mediaType: () => 'application/yaml',
  carries: 'all kinds',
  tables: true,
  body: (bytes) => yamlDocumentBody(decodeUtf8(bytes)),
  encode: encodeDocument,
};

/** Texts of frozen documents and of frozen items, for as long as those live. They differ in how far they are indented. */
const documents = new WeakMap<object, string>();
const items = new WeakMap<object, string>();

/** What has items comes item by item, each from what is kept of it; no line of one depends on another. */
function encodeDocument(document: object): string {
  if (!('items' in document) || !Array.isArray(document.items) || document.items.length === 0) {
    return kept(documents, document, writeYaml);
  }
  const list: readonly unknown[] = document.items;
  const keys = Object.keys(document).sort(compareKeys);
  const record: Readonly<Record<string, unknown>> = { ...document };
  return keys
    .filter((key) => record[key] !== undefined)
    .map((key) => (key === 'items' ? ITEMS + list.map(encodeItem).join('') : writeYaml({ [key]: record[key] })))
    .join('');
}

const ITEMS = 'items:\n';

function encodeItem(item: unknown): string {
  const write = (value: unknown): string => writeYaml({ items: [value] }).slice(ITEMS.length);
  return typeof item === 'object' && item !== null ? kept(items, item, write) : write(item);
}

function kept(texts: WeakMap<object, string>, value: object, write: (value: object) => string): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = write(value);
  // By our convention what is frozen is frozen all the way down.
  if (Object.isFrozen(value)) texts.set(value, text);
  return text;
}
