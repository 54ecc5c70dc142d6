/**
 * Lists of users' kinds that are merged item by item may not hold the same item twice. The reference server judges its
 * own kinds in their own ways.
 */
import { duplicate, type FieldError, keyPath } from '../meta/field-error.js';
import { verbatim } from '../text/go/go-text.js';
import { goSyntax } from '../text/go/go-value.js';
import { encodeSorted, isRecord } from '../util/json.js';
import type { ListNode, Structural } from './structural.js';

export function repeatedItems(node: Structural, value: unknown, path = ''): readonly FieldError[] {
  switch (node.type) {
    case 'object':
      if (!isRecord(value)) return [];
      return [...node.fields.values()].flatMap(({ name, node: child }) =>
        Object.hasOwn(value, name) ? repeatedItems(child, value[name], path === '' ? name : `${path}.${name}`) : [],
      );
    case 'map':
      if (!isRecord(value)) return [];
      return Object.keys(value).flatMap((key) => repeatedItems(node.values, value[key], keyPath(path, key)));
    case 'list':
      if (!Array.isArray(value)) return [];
      return [
        ...repeats(node, value, path),
        ...value.flatMap((item, index) => repeatedItems(node.items, item, keyPath(path, index))),
      ];
    case 'scalar':
    case 'any':
      return [];
  }
}

function repeats(list: ListNode, items: readonly unknown[], path: string): readonly FieldError[] {
  if (list.listType === 'atomic') return [];
  const seen = new Set<string>();
  const found: FieldError[] = [];
  for (const [index, item] of items.entries()) {
    const identity = list.listType === 'set' ? item : keysOf(list, item);
    const text = encodeSorted(identity);
    if (!seen.has(text)) seen.add(text);
    else found.push(duplicate(keyPath(path, index), isRecord(identity) ? verbatim(goSyntax(identity)) : identity));
  }
  return found;
}

function keysOf(list: ListNode, item: unknown): Readonly<Record<string, unknown>> {
  const record = isRecord(item) ? item : {};
  const present = list.mapKeys.filter((key) => Object.hasOwn(record, key));
  return Object.fromEntries(present.map((key) => [key, record[key]]));
}
