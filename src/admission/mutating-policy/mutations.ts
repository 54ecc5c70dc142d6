/**
 * The two kinds of mutations of a MutatingAdmissionPolicy: apply configurations, which are merged like a server-side apply
 * but without field ownership, and JSON patches. An apply configuration must not touch atomic lists, maps or structs,
 * because everything that it does not mention would be lost.
 */

import {
  CelBytes,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  itemsOf,
  JsonList,
  JsonMap,
  typeNameOf,
  valueText,
} from '../../cel/index.js';
import { PatchObject, PatchStep } from '../../kinds/admissionregistration/expressions/patch-types.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { fieldsOfIntent, IntentError } from '../../merge/apply/intent-fields.js';
import { merge } from '../../merge/apply/merge.js';
import { fieldElement, type PathElement, printElement } from '../../merge/apply/path-element.js';
import { hasItems, hasMembers, ItemError, itemElement, memberNode } from '../../merge/apply/typed.js';
import { MAX_OBJECT_CONTAINERS, requireObjectLimits, TOO_MANY_CONTAINERS } from '../../protocol/value-limits.js';
import type { ScalarNode, SchemaNode } from '../../schema/schema-node.js';
import { quote } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';
import { encodeBase64 } from '../../util/base64.js';
import { recoverFrom, translateError } from '../../util/catch-error.js';
import { isRecord, type MutableRecord, setOwn } from '../../util/json.js';
import type { WireObject } from '../match/wire-object.js';
import { applyOperations, PatchFailure } from '../webhook/json-patch.js';
import { NonJsonValue, recordOfObject } from './native-value.js';

/** A mutation cannot be applied; the failure policy decides what happens. */
export class MutationError extends Error {
  override readonly name = 'MutationError';
}

/** Merges the result of an expression into the object. Throws a {@link MutationError}, or 413 if the result is too large. */
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
  // The type of the object wins over the one in the configuration.
  const patch = { ...record, kind: gvk.kind, apiVersion };
  // An expression can contain one large value thousands of times.
  requireObjectLimits(patch);
  const unfit = unfitReason(schema, patch);
  if (unfit !== undefined) {
    throw new MutationError(`error applying patch: failed to convert patch object to typed object: ${unfit}`);
  }
  const atomics = atomicsIn(schema, patch, '');
  if (atomics.length > 0) {
    const where = `may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`;
    throw new MutationError(`error applying patch: invalid ApplyConfiguration: ${where}`);
  }
  const merged = merge(schema, object, patch);
  requireObjectLimits(merged);
  return merged;
}

/** Every `Object.a.b{}` must be the value of field `b` of an `Object.a{}`. Throws a {@link MutationError}. */
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
    for (const [name, field] of value.fields) append(found, typeNameProblems(field, `${expected}.${name}`));
    return found;
  }
  // Lists and maps in between add no name.
  if (value instanceof CelList) return itemsOf(value).flatMap((item) => typeNameProblems(item, expected));
  if (!(value instanceof CelMap)) return [];
  return [...value.keys()].flatMap((key) => typeNameProblems(value.get(key) ?? null, expected));
}

function unfitReason(schema: SchemaNode, patch: Readonly<Record<string, unknown>>): string | undefined {
  const [problem] = nonJsonProblems(schema, patch, '');
  if (problem !== undefined) return problem;
  const check = () => void fieldsOfIntent(schema, patch);
  return recoverFrom<IntentError, string | undefined>(IntentError, check, ({ message }) => message);
}

/** Values that are not JSON, with the reference server's messages for wrong types. */
function nonJsonProblems(node: SchemaNode, value: unknown, path: string): string[] {
  if (value instanceof NonJsonValue) return [`${path}: ${nonJsonMessage(node, value)}`];
  if (Array.isArray(value) && node.type === 'list') {
    return value.flatMap((item, index) => {
      const step = itemStep(item, index, node);
      return step === undefined
        ? [`${path}: element ${index}: associative list with keys may not have non-map elements`]
        : nonJsonProblems(node.items, item, `${path}${step}`);
    });
  }
  if (!isRecord(value) || node.type === 'list' || node.type === 'scalar') return [];
  return Object.keys(value).flatMap((name) => {
    const child = memberNode(node, name);
    if (child === undefined) return [];
    return nonJsonProblems(child, value[name], `${path}${printElement(fieldElement(name))}`);
  });
}

/** Undefined for an item without the keys of its associative list. */
function itemStep(item: unknown, index: number, list: SchemaNode & { readonly type: 'list' }): string | undefined {
  if (!hasItems(list)) return printElement(`i:${index}`);
  if (item instanceof NonJsonValue) return list.listType === 'map' ? undefined : '[={{undefined}}]';
  const element = (): PathElement => itemElement(list, item);
  // fieldsOfIntent reports the error.
  return printElement(recoverFrom(ItemError, element, () => `i:${index}`));
}

function nonJsonMessage(node: SchemaNode, { type, plain, syntax }: NonJsonValue): string {
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

/**
 * The paths of atomic values. As in the reference server, map values are not checked.
 * upstream: apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go findAtomics
 */
function atomicsIn(node: SchemaNode, value: unknown, path: string): string[] {
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

/** Applies a JSON patch. Throws a {@link MutationError}. */
export function applyPatchSteps(given: CelValue, object: WireObject): unknown {
  containersLeft = MAX_OBJECT_CONTAINERS;
  if (!(given instanceof CelList)) {
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array');
  }
  const operations = itemsOf(given).map(operationOf);
  const apply = () => applyOperations(operations, object);
  return recoverFrom(PatchFailure, apply, (error) => {
    if (error.isTest) return object;
    throw new MutationError(`JSON Patch: ${error.message}`, { cause: error });
  });
}

function operationOf(step: CelValue): Readonly<Record<string, unknown>> {
  if (!(step instanceof PatchStep)) {
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
  }
  const { op, path, from } = step.texts;
  return {
    op,
    path,
    ...(from === '' ? {} : { from }),
    ...(step.value === undefined ? {} : { value: patchValue(step.value) }),
  };
}

class NotJson extends Error {}

/** Of the operations of one expression, whose value may contain one list thousands of times. */
let containersLeft = 0;

/** Larger integers are strings in JSON, because many readers would round them. */
const MAX_NUMBER = 2n ** 53n - 1n;

function patchValue(value: CelValue): unknown {
  if (value instanceof PatchObject) checkTypeNames(value);
  const what = 'JSONPath valueExpression evaluated to a type that could not marshal to JSON';
  const refuse = (cause: NotJson) => new MutationError(`${what}: ${cause.message}`, { cause });
  return translateError(NotJson, () => jsonOf(value), refuse);
}

function jsonOf(value: CelValue): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return wholeNumber(value);
  if (value instanceof CelUint) return wholeNumber(value.value);
  if (typeof value === 'number') return finite(value);
  if (value instanceof JsonList || value instanceof JsonMap) return value.raw;
  if ((value instanceof CelList || value instanceof CelMap) && containersLeft-- === 0)
    throw new NotJson(TOO_MANY_CONTAINERS);
  if (value instanceof CelList) return itemsOf(value).map(jsonOf);
  if (value instanceof CelMap) return recordOf(value);
  if (value instanceof PatchObject) return objectOf(value);
  if (value instanceof CelBytes) return encodeBase64(value.bytes);
  if (value instanceof CelTimestamp || value instanceof CelDuration) return valueText(value);
  if (value instanceof CelTypeValue) throw new NotJson("type conversion not supported for 'type'");
  if (value instanceof CelOptional) {
    if (value.value === undefined) throw new NotJson('optional.none() dereference');
    return jsonOf(value.value);
  }
  if (value instanceof CelObject) throw new NotJson('cannot convert to native type: *structpb.Value');
  const name = typeNameOf(value).split('.').at(-1) ?? '';
  throw new NotJson(`type conversion error from '${name}' to '*structpb.Value'`);
}

function wholeNumber(value: bigint): number | string {
  return value <= MAX_NUMBER && value >= -MAX_NUMBER ? Number(value) : String(value);
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  const text = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  const why = `proto: google.protobuf.Value.number_value: invalid ${text} value`;
  throw new NotJson(`json: error calling MarshalJSON for type *structpb.Value: ${why}`);
}

function recordOf(map: CelMap): MutableRecord {
  const record: MutableRecord = {};
  for (const key of map.keys()) {
    if (typeof key === 'boolean') throw new NotJson("type conversion error from bool to 'string'");
    if (typeof key !== 'string') throw new NotJson(`unsupported type conversion from '${typeNameOf(key)}' to string`);
    setOwn(record, key, jsonOf(map.get(key) ?? null));
  }
  return record;
}

/** An `Object{}` must be valid in an apply configuration, except that unsigned integers are allowed. */
function objectOf(object: PatchObject): MutableRecord {
  const record = recordOfObject(object);
  if (typeof record === 'string') throw new NotJson(record);
  return withoutNonJson(record) as MutableRecord;
}

function withoutNonJson(value: unknown): unknown {
  if (value instanceof NonJsonValue) {
    if (value.type === 'uint64') return Number(value.plain);
    throw new NotJson(`proto: invalid type: ${value.type}`);
  }
  if (Array.isArray(value)) return value.map(withoutNonJson);
  if (!isRecord(value)) return typeof value === 'bigint' ? Number(value) : value;
  const out: MutableRecord = {};
  for (const key of Object.keys(value)) setOwn(out, key, withoutNonJson(value[key]));
  return out;
}
