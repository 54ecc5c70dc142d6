/**
 * Changes by apply configuration: a part of an object, merged into the object by the rules of server-side apply. Nobody
 * becomes an owner by it. What is owned as a whole cannot be changed in this way, because whatever the configuration does
 * not mention would be lost.
 */

import { itemsOf } from '../../cel/evaluate/views.js';
import { CelList, CelMap, type CelValue } from '../../cel/values.js';
import { PatchObject } from '../../kinds/admissionregistration/expressions/patch-types.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { ItemError, itemElement } from '../../merge/apply/list-elements.js';
import { merge } from '../../merge/apply/merge.js';
import { fieldsOfIntent, IntentError } from '../../merge/apply/owned-fields.js';
import { fieldElement, type PathElement, printElement } from '../../merge/apply/path-element.js';
import { hasItems, hasMembers, memberNode } from '../../merge/apply/typing.js';
import type { ScalarNode, Structural } from '../../schema/structural.js';
import { quote } from '../../text/go/go-text.js';
import { isRecord } from '../../util/json.js';
import type { WireObject } from '../match/form.js';
import { MutationError } from './mutation-error.js';
import { Foreign, recordOfObject } from './native-value.js';

/** The object with what an expression gave merged into it. Throws a {@link MutationError}. */
export function applyConfiguration(
  given: CelValue,
  object: WireObject,
  { schema, gvk, apiVersion }: ServedKind,
): unknown {
  if (!(given instanceof PatchObject))
    throw new MutationError('unsupported return type from ApplyConfiguration expression');
  checkTypeNames(given);
  const record = recordOfObject(given);
  if (typeof record === 'string') throw new MutationError('invalid return type: *dynamic.ObjectVal');
  // It is what the object is, whatever it says.
  const patch = { ...record, kind: gvk.kind, apiVersion };
  const unfit = unfitReason(schema, patch);
  if (unfit !== undefined) {
    throw new MutationError(`error applying patch: failed to convert patch object to typed object: ${unfit}`);
  }
  const atomics = atomicsIn(schema, patch, '');
  if (atomics.length > 0) {
    const where = `may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`;
    throw new MutationError(`error applying patch: invalid ApplyConfiguration: ${where}`);
  }
  return merge(schema, object, patch);
}

/** Every `Object.a.b{}` must stand in the field `b` of an `Object.a{}`. Throws a {@link MutationError}. */
export function checkTypeNames(object: PatchObject): void {
  const problems = typeNameProblems(object, object.typeName);
  if (problems.length > 0) throw new MutationError(`type mismatch: ${problems.join('\n')}`);
}

function typeNameProblems(value: CelValue, expected: string): string[] {
  if (value instanceof PatchObject) {
    const found: string[] = [];
    if (value.typeName !== expected) {
      const why = 'which matches field name path from root Object type';
      found.push(`unexpected type name ${quote(value.typeName)}, expected ${quote(expected)}, ${why}`);
    }
    for (const [name, field] of value.fields) found.push(...typeNameProblems(field, `${expected}.${name}`));
    return found;
  }
  // Lists and maps in between have no names.
  if (value instanceof CelList) return itemsOf(value).flatMap((item) => typeNameProblems(item, expected));
  if (!(value instanceof CelMap)) return [];
  return [...value.keys()].flatMap((key) => typeNameProblems(value.get(key) ?? null, expected));
}

function unfitReason(schema: Structural, patch: Readonly<Record<string, unknown>>): string | undefined {
  const [strange] = strangeValues(schema, patch, '');
  if (strange !== undefined) return strange;
  try {
    fieldsOfIntent(schema, patch);
    return undefined;
  } catch (error) {
    if (error instanceof IntentError) return error.message;
    throw error;
  }
}

/** Where values stand that nothing can be, in the words in which other values of a wrong type are refused. */
function strangeValues(node: Structural, value: unknown, path: string): string[] {
  if (value instanceof Foreign) return [`${path}: ${strangeness(node, value)}`];
  if (Array.isArray(value) && node.type === 'list') {
    return value.flatMap((item, index) => {
      const step = stepTo(item, index, node);
      return step === undefined
        ? [`${path}: element ${index}: associative list with keys may not have non-map elements`]
        : strangeValues(node.items, item, `${path}${step}`);
    });
  }
  if (!isRecord(value) || node.type === 'list' || node.type === 'scalar') return [];
  return Object.keys(value).flatMap((name) => {
    const child = memberNode(node, name);
    if (child === undefined) return [];
    return strangeValues(child, value[name], `${path}${printElement(fieldElement(name))}`);
  });
}

/** Undefined for an item that has no name, though it should. */
function stepTo(item: unknown, index: number, list: Structural & { readonly type: 'list' }): string | undefined {
  if (!hasItems(list)) return printElement(`i:${index}`);
  if (item instanceof Foreign) return list.listType === 'map' ? undefined : '[={{undefined}}]';
  try {
    const element: PathElement = itemElement(list, item);
    return printElement(element);
  } catch (error) {
    // It is refused for that in a moment.
    if (error instanceof ItemError) return printElement(`i:${index}`);
    throw error;
  }
}

function strangeness(node: Structural, { type, plain, syntax }: Foreign): string {
  if (node.type === 'list') return `expected list, got &{${plain}}`;
  if (node.type !== 'scalar') return `expected map, got &{${plain}}`;
  switch (SCALARS[node.scalar]) {
    case 'number':
      return `expected numeric (int or float), got ${type}`;
    case 'text':
      return `expected string, got &value.valueUnstructured{Value:${syntax}}`;
    case 'boolean':
      return `expected boolean, got &{${plain}}`;
    default:
      return `expected any scalar, got &{${plain}}`;
  }
}

const SCALARS: Readonly<Record<ScalarNode['scalar'], 'number' | 'text' | 'boolean' | 'any'>> = {
  int32: 'number',
  int64: 'number',
  number: 'number',
  string: 'text',
  bytes: 'text',
  duration: 'text',
  boolean: 'boolean',
  time: 'any',
  microTime: 'any',
  quantity: 'any',
  intOrString: 'any',
};

/** Paths of what is owned as a whole. Keys of maps are not looked into: that is how far the reference server looks. */
function atomicsIn(node: Structural, value: unknown, path: string): string[] {
  if (Array.isArray(value) && (node.type === 'list' || node.type === 'any')) {
    const own = node.type === 'list' && hasItems(node) ? [] : [path];
    if (node.type === 'any') return own;
    return [...own, ...value.flatMap((item, index) => atomicsIn(node.items, item, `${path}[${index}]`))];
  }
  if (!isRecord(value) || node.type === 'list' || node.type === 'scalar') return [];
  const own = hasMembers(node, value) ? [] : [path];
  if (node.type !== 'object') return own;
  const inside = Object.keys(value).flatMap((name) => {
    const field = node.fields.get(name);
    return field === undefined ? [] : atomicsIn(field.node, value[name], `${path}.${name}`);
  });
  return [...own, ...inside];
}
