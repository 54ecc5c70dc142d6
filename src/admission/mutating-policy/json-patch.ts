/**
 * Changes by JSON Patch: a list of `JSONPatch{}` that an expression gave, applied to the object. A `test` that finds
 * something else is no failure: the object stays as it is.
 */
import { itemsOf } from '../../cel/evaluate/views.js';
import { JsonList, JsonMap } from '../../cel/index.js';
import { valueText } from '../../cel/library/value-text.js';
import { typeNameOf } from '../../cel/runtime-type.js';
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
} from '../../cel/values.js';
import { PatchObject, PatchStep } from '../../kinds/admissionregistration/expressions/patch-types.js';
import { encodeBase64 } from '../../util/base64.js';
import { isRecord, type MutableRecord, setOwn } from '../../util/json.js';
import type { WireObject } from '../match/form.js';
import { applyOperations, PatchFailure } from '../webhook/json-patch.js';
import { checkTypeNames } from './apply-configuration.js';
import { MutationError } from './mutation-error.js';
import { Foreign, recordOfObject } from './native-value.js';

/** The patched document. Throws a {@link MutationError}. */
export function applyPatchSteps(given: CelValue, object: WireObject): unknown {
  if (!(given instanceof CelList)) {
    throw new MutationError('type mismatch: JSONPatchType.expression should evaluate to array');
  }
  const operations = itemsOf(given).map(operationOf);
  try {
    return applyOperations(operations, object);
  } catch (error) {
    if (!(error instanceof PatchFailure)) throw error;
    if (error.isTest) return object;
    throw new MutationError(`JSON Patch: ${error.message}`, { cause: error });
  }
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

function patchValue(value: CelValue): unknown {
  if (value instanceof PatchObject) checkTypeNames(value);
  try {
    return jsonOf(value);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const what = 'JSONPath valueExpression evaluated to a type that could not marshal to JSON';
    throw new MutationError(`${what}: ${error.message}`, { cause: error });
  }
}

class NotJson extends Error {}

/** Whole numbers beyond are texts in JSON, because most readers would round them. */
const MAX_NUMBER = 2n ** 53n - 1n;

function jsonOf(value: CelValue): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return wholeNumber(value);
  if (value instanceof CelUint) return wholeNumber(value.value);
  if (typeof value === 'number') return finite(value);
  if (value instanceof JsonList || value instanceof JsonMap) return value.raw;
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
  const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  const why = `proto: google.protobuf.Value.number_value: invalid ${shown} value`;
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

/** What stands in an `Object{}` is held to what an apply configuration may hold, but for numbers without a sign. */
function objectOf(object: PatchObject): MutableRecord {
  const record = recordOfObject(object);
  if (typeof record === 'string') throw new NotJson(record);
  return withoutForeign(record) as MutableRecord;
}

function withoutForeign(value: unknown): unknown {
  if (value instanceof Foreign) {
    if (value.type === 'uint64') return Number(value.plain);
    throw new NotJson(`proto: invalid type: ${value.type}`);
  }
  if (Array.isArray(value)) return value.map(withoutForeign);
  if (!isRecord(value)) return typeof value === 'bigint' ? Number(value) : value;
  const out: MutableRecord = {};
  for (const key of Object.keys(value)) setOwn(out, key, withoutForeign(value[key]));
  return out;
}
