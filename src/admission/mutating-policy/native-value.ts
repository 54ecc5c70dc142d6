/**
 * What an expression made, as the plain values of an apply configuration. That goes one level deep only: in maps and
 * lists that stand in an `Object{}` plain values may stand, and further `Object{}`s, but no maps and lists again. What
 * does not fit is kept as it is, a {@link Foreign}, to be found where a field will not have it.
 */

import { ArrayList, EntryMap, JsonList, JsonMap } from '../../cel/index.js';
import { printValue } from '../../cel/library/print-value.js';
import { referenceClass, runtimeTypeName, typeNameOf } from '../../cel/runtime-type.js';
import {
  CelBytes,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from '../../cel/values.js';
import { PatchObject } from '../../kinds/admissionregistration/expressions/patch-types.js';
import { quote } from '../../text/go/go-text.js';
import { goSyntax, printGoValue } from '../../text/go/go-value.js';
import { MONTH_NAMES } from '../../text/time/time.js';
import { type MutableRecord, setOwn } from '../../util/json.js';

/** A value that no object can hold, with how messages call and print it. */
export class Foreign {
  constructor(
    readonly type: string,
    readonly plain: string,
    readonly syntax: string = plain,
  ) {}
}

/** An `Object{}` as a record, or why it is none. */
export function recordOfObject(object: PatchObject): MutableRecord | string {
  const record: MutableRecord = {};
  for (const [name, value] of object.fields) {
    const field = fieldValue(value);
    if (typeof field === 'object' && field !== null && 'problem' in field) {
      return `fail to convert field ${quote(name)}: ${field.problem}`;
    }
    setOwn(record, name, field.value);
  }
  return record;
}

type FieldValue = { readonly value: unknown } | { readonly problem: string };

function fieldValue(given: CelValue): FieldValue {
  const value = given instanceof CelOptional && given.value !== undefined ? given.value : given;
  if (value instanceof CelList && !(value instanceof JsonList)) return { value: itemsOf(value).map(plainValue) };
  if (value instanceof CelMap && !(value instanceof JsonMap)) {
    const record: MutableRecord = {};
    for (const key of value.keys()) {
      if (typeof key !== 'string')
        return { problem: `map key ${quoteKey(key)} is of type ${referenceClass(key)}, not string` };
      setOwn(record, key, plainValue(value.get(key) ?? null));
    }
    return { value: record };
  }
  return { value: plainValue(value) };
}

function itemsOf(list: CelList): CelValue[] {
  return Array.from({ length: list.size }, (_, index) => list.at(index));
}

function plainValue(value: CelValue): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value instanceof JsonList || value instanceof JsonMap) return value.raw;
  if (value instanceof CelTypeValue) return runtimeTypeName(value.type);
  if (value instanceof CelOptional && value.value !== undefined) return plainValue(value.value);
  if (!(value instanceof PatchObject)) return foreign(value);
  const record = recordOfObject(value);
  return typeof record === 'string' ? new Foreign('*types.Err', record) : record;
}

function foreign(value: CelValue): Foreign {
  if (value === null) return new Foreign('structpb.NullValue', 'NULL_VALUE', '0');
  if (value instanceof CelUint) {
    return new Foreign('uint64', String(value.value), `0x${value.value.toString(16)}`);
  }
  if (value instanceof CelDuration) return new Foreign('time.Duration', printValue(value), String(value.nanos));
  if (value instanceof CelTimestamp) return new Foreign('time.Time', printValue(value), timeSyntax(value));
  if (value instanceof CelBytes) {
    const bytes = Array.from(value.bytes, (byte) => `0x${byte.toString(16)}`);
    return new Foreign('[]uint8', printValue(value), `[]uint8{${bytes.join(', ')}}`);
  }
  if (value instanceof ArrayList || value instanceof CelList) {
    const items = itemsOf(value).map(plainValue);
    return new Foreign(
      '[]ref.Val',
      `[${items.map(plainText).join(' ')}]`,
      `[]ref.Val{${items.map(syntax).join(', ')}}`,
    );
  }
  if (value instanceof EntryMap || value instanceof CelMap) {
    const entries = [...value.keys()].map((key) => [plainValue(key), plainValue(value.get(key) ?? null)] as const);
    const plain = entries.map(([key, item]) => `${plainText(key)}:${plainText(item)}`);
    const shown = entries.map(([key, item]) => `${syntax(key)}:${syntax(item)}`);
    return new Foreign('map[ref.Val]ref.Val', `map[${plain.join(' ')}]`, `map[ref.Val]ref.Val{${shown.join(', ')}}`);
  }
  return new Foreign(goTypeOf(value), printValue(value));
}

function plainText(value: unknown): string {
  return value instanceof Foreign ? value.plain : printGoValue(value);
}

function syntax(value: unknown): string {
  return value instanceof Foreign ? value.syntax : goSyntax(value);
}

/** Values of libraries, by the classes behind them. */
function goTypeOf(value: CelValue): string {
  const name = typeNameOf(value).split('.').at(-1) ?? '';
  if (name === 'Quantity') return '*resource.Quantity';
  return name === 'URL' ? '*url.URL' : referenceClass(value);
}

const NANOS = 1_000_000_000n;

function timeSyntax({ nanos }: CelTimestamp): string {
  const fraction = ((nanos % NANOS) + NANOS) % NANOS;
  const date = new Date(Number((nanos - fraction) / NANOS) * 1000);
  const day = `${date.getUTCFullYear()}, time.${MONTH_NAMES[date.getUTCMonth()]}, ${date.getUTCDate()}`;
  const clock = `${date.getUTCHours()}, ${date.getUTCMinutes()}, ${date.getUTCSeconds()}, ${fraction}`;
  return `time.Date(${day}, ${clock}, time.UTC)`;
}

/** A number that is printed as if it were a character. */
function quoteKey(key: CelValue): string {
  const code = key instanceof CelUint ? key.value : typeof key === 'bigint' ? key : undefined;
  // Others cannot be; that this is said goes through two messages, the second of which makes a mess of it.
  if (code === undefined) return `%!!(MISSING)q(${referenceClass(key)}=${printValue(key)})`;
  if (code < 0n || code > 0x10ffffn) return "'\uFFFD'";
  const character = quote(String.fromCodePoint(Number(code))).slice(1, -1);
  return `'${character === '\\"' ? '"' : character === "'" ? "\\'" : character}'`;
}
