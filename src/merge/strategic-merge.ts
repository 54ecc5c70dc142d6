/**
 * Strategic merge patch: a merge patch that uses the schema of the kind. Lists with a merge key are merged item by
 * item; directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) change that. It works
 * on decoded values; strategic-list.ts merges lists, and restore.ts converts the result to an object of the kind. Runs
 * in the merge step of the write path. spec: Media types and encodings
 */
import { errors } from '../meta/errors.js';
import type { Field, ObjectNode, SchemaNode } from '../schema/schema-node.js';
import { quote } from '../text/go/go-text.js';
import { goKind } from '../text/go/go-value.js';
import type { MutableRecord } from '../util/json.js';
import { cloneJson, isRecord, own, setOwn } from '../util/json.js';
import { cannotUnmarshal } from './merge-patch.js';
import type { ListRules } from './strategic-list.js';
import { DIRECTIVE, deleteFromList, mergeLists, mergeOrdered, unknownDirective, wrongType } from './strategic-list.js';

const RETAIN_KEYS = '$retainKeys';
const SET_ORDER = '$setElementOrder';
const DELETE_SCALARS = '$deleteFromPrimitiveList';

/** The result of a strategic merge. */
export interface StrategicMerge {
  /** The document with the patch merged in. Fields may still be unknown or of the wrong type. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The patch without the directives that the merge consumed. The server prints it in errors. */
  readonly leftover: Readonly<Record<string, unknown>>;
}

/**
 * Merges a decoded body into a document of the given schema; null is a patch without fields. Does not change its
 * arguments; the result shares all parts of the document that the merge did not open.
 *
 * Throws 400 if the body is not an object and for malformed directives, 500 without a reason for most other errors: an
 * item without its merge key, an unknown directive, lists with items of different types.
 *
 * @example
 * const live = { metadata: { finalizers: ['a'] } };
 * applyStrategicMerge(ConfigMap.schema, live, { metadata: { finalizers: ['b'] } }).document // finalizers: b, a
 */
export function applyStrategicMerge(
  schema: ObjectNode,
  document: Readonly<Record<string, unknown>>,
  patch: unknown,
): StrategicMerge {
  if (patch !== null && !isRecord(patch)) {
    throw errors.badRequest(cannotUnmarshal(patch, 'Go value of type map[string]interface {}'));
  }
  // The merge consumes the patch, and the result keeps some of its parts. The spelling of numbers is lost here.
  const leftover = cloneJson(patch ?? {});
  return { document: mergeRecords(document, leftover, schema), leftover };
}

type Document = Readonly<Record<string, unknown>>;

function mergeRecords(live: Document, patch: MutableRecord, node: SchemaNode): Document {
  if (Object.hasOwn(patch, DIRECTIVE)) return followDirective(patch);
  const merged: MutableRecord = { ...live };
  retainKeys(merged, patch);
  mergeOrderedLists(merged, patch, node);
  for (const key of Object.keys(patch)) {
    const isDeletion = key.startsWith(DELETE_SCALARS);
    const name = (isDeletion && fieldOf(key, DELETE_SCALARS)) || key;
    const value = isDeletion
      ? withoutScalars(own(merged, name), patch[key], { node, name })
      : mergeValues(own(merged, name), patch[key], { node, name });
    if (value === undefined) delete merged[name];
    else setOwn(merged, name, value);
  }
  return merged;
}

/** `$patch` in a map replaces the value by the patch, or deletes its content. */
function followDirective(patch: MutableRecord): Document {
  const directive = patch[DIRECTIVE];
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw unknownDirective(directive, patch);
  delete patch[DIRECTIVE];
  return patch;
}

/** `$retainKeys` removes all keys that it does not list; the patch must not set other keys. */
function retainKeys(merged: MutableRecord, patch: MutableRecord): void {
  const given = own(patch, RETAIN_KEYS);
  if (given === undefined) return;
  delete patch[RETAIN_KEYS];
  const names = new Set(Array.isArray(given) ? given : []);
  const isAllowed = (key: string) =>
    patch[key] === null || key.startsWith(DELETE_SCALARS) || key.startsWith(SET_ORDER) || names.has(key);
  if (!Array.isArray(given) || !Object.keys(patch).every(isAllowed)) {
    throw errors.badRequest('invalid patch format of retainKeys');
  }
  for (const key of Object.keys(merged)) if (!names.has(key)) delete merged[key];
}

/** `$setElementOrder/<field>` is processed together with its list; both are removed from the patch. */
function mergeOrderedLists(merged: MutableRecord, patch: MutableRecord, node: SchemaNode): void {
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(SET_ORDER)) continue;
    const order = requireList(patch[key]);
    delete patch[key];
    const name = fieldOf(key, SET_ORDER);
    const live = own(merged, name);
    const change = own(patch, name);
    const lists = {
      ...(live === undefined ? {} : { live: requireList(live) }),
      ...(change === undefined ? {} : { patch: requireList(change) }),
      order,
    };
    const items = mergeOrdered(lists, listRules(node, name));
    if (items === undefined) continue;
    setOwn(merged, name, items);
    delete patch[name];
  }
}

function requireList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw wrongType('[]interface {}', value);
}

/** The field of a directive: the text after the slash. */
function fieldOf(key: string, directive: typeof SET_ORDER | typeof DELETE_SCALARS): string {
  if (key.startsWith(`${directive}/`)) return key.slice(directive.length + 1);
  const what = directive === SET_ORDER ? 'setElementOrder' : 'primitive';
  throw errors.badRequest(`invalid patch format of ${what} list`);
}

/** A field of a struct, or a key of another map. */
interface FieldPosition {
  readonly node: SchemaNode;
  readonly name: string;
}

/** The new value of a field; undefined if it is deleted. */
function mergeValues(live: unknown, change: unknown, position: FieldPosition): unknown {
  if (change === null) return undefined;
  if (isRecord(live) && isRecord(change)) {
    const field = fieldIn(position);
    return strategyOf(field.node) === 'replace' ? change : mergeRecords(live, change, field.node);
  }
  if (Array.isArray(live) && Array.isArray(change)) {
    return mergeLists(live, change, listRules(position.node, position.name));
  }
  dropNulls(change);
  return withoutDirectives(change);
}

/** The value of a field after `$deleteFromPrimitiveList/<field>`. Without a list nothing changes. */
function withoutScalars(live: unknown, unwanted: unknown, position: FieldPosition): unknown {
  // Null deletes, whatever the key.
  if (unwanted === null) return undefined;
  if (Array.isArray(live) && Array.isArray(unwanted)) {
    return deleteFromList(live, unwanted, listRules(position.node, position.name));
  }
  if (isRecord(live) && isRecord(unwanted)) return mergeValues(live, unwanted, position);
  const isSameScalar = live !== undefined && goKind(live) === goKind(unwanted) && !isRecord(live);
  return isSameScalar ? unwanted : live;
}

/** Removes keys with null values from a new value recursively; nulls that are list items are kept. */
function dropNulls(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) dropNulls(item);
  if (!isRecord(value)) return;
  for (const key of Object.keys(value)) {
    if (value[key] === null) delete value[key];
    else dropNulls(value[key]);
  }
}

/** Removes maps with a `$patch` directive from a new value; undefined if the value itself is one. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isRecord(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  for (const key of Object.keys(value)) {
    const kept = withoutDirectives(value[key]);
    if (kept === undefined) delete value[key];
    else setOwn(value, key, kept);
  }
  return value;
}

function listRules(node: SchemaNode, name: string): ListRules {
  const field = fieldIn({ node, name });
  const list = field.node;
  if (list.type !== 'list') return rulesOfPointer(field);
  const { items } = list;
  if (items.type === 'list') throw errors.plain('unexpected slice of slice');
  return {
    mergeKey: list.patchMergeKey ?? '',
    merges: strategyOf(list) === 'merge',
    itemKind: kindName(items),
    // The items of the patch belong to our copy.
    mergeItems: (live, patch) => mergeRecords(live, patch as MutableRecord, items),
  };
}

/** For a pointer field the server accepts any type as a list, without a merge key. */
function rulesOfPointer({ node, presence }: Field): ListRules {
  if (presence !== 'pointer') throw errors.plain('expected slice or array type, but got: struct');
  return { mergeKey: '', merges: false, itemKind: kindName(node), mergeItems: (_live, patch) => patch };
}

/** The field in the schema; if there is no exact match, names are compared case-insensitively. */
function fieldIn({ node, name }: FieldPosition): Field {
  if (node.type !== 'object' && node.type !== 'any') {
    throw errors.plain(`merging an object in json but data type is not struct, instead is: ${kindName(node)}`);
  }
  const field = node.type === 'object' ? (node.fields.get(name) ?? foldedField(node, name)) : undefined;
  if (field !== undefined) return field;
  throw errors.plain(`unable to find api field in struct ${structName(node)} for the json field ${quote(name)}`);
}

function foldedField(node: ObjectNode, name: string): Field | undefined {
  const folded = name.toLowerCase();
  for (const field of node.fields.values()) if (field.name.toLowerCase() === folded) return field;
  return undefined;
}

/** A raw extension is a struct without named fields. */
function structName(node: SchemaNode): string {
  return node.type === 'object' ? node.goName : node.goType.slice(node.goType.lastIndexOf('.') + 1);
}

/** The patch strategy of a list or a map. `retainKeys` only tells clients to send the directive. */
function strategyOf(node: SchemaNode): string {
  const given = node.type === 'object' || node.type === 'list' ? node.patchStrategy : undefined;
  return given?.split(',').find((strategy) => strategy !== 'retainKeys') ?? '';
}

function kindName(node: SchemaNode): string {
  switch (node.type) {
    case 'object':
    case 'any':
      return 'struct';
    case 'map':
      return 'map';
    case 'list':
      return 'slice';
    case 'scalar':
      return SCALAR_KINDS[node.scalar];
  }
}

const SCALAR_KINDS = {
  string: 'string',
  int32: 'int32',
  int64: 'int64',
  number: 'float64',
  boolean: 'bool',
  bytes: 'slice',
  time: 'struct',
  microTime: 'struct',
  quantity: 'struct',
  intOrString: 'struct',
  duration: 'struct',
} as const;
