/**
 * Converts the result of an expression to the plain values of an apply configuration. The conversion is one level deep:
 * maps and lists in an `Object{}` may hold plain values and `Object{}`s, but no further maps and lists. Other values are
 * kept as {@link NonJsonValue}, and reported where a field rejects them.
 */

import {
  ArrayList,
  CelBytes,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  EntryMap,
  goTypeName,
  JsonList,
  JsonMap,
  printValue,
  runtimeTypeName,
  typeNameOf,
} from '../../cel/index.js';
import { PatchObject } from '../../kinds/admissionregistration/expressions/patch-types.js';
import { quote } from '../../text/go/go-text.js';
import { goSyntax, printGoValue } from '../../text/go/go-value.js';
import { MONTH_NAMES } from '../../text/time/time.js';
import { type MutableRecord, setOwn } from '../../util/json.js';

/** A value that JSON cannot represent, with its Go type and its text as of Go's %v and %#v. */
export class NonJsonValue {
  constructor(
    readonly type: string,
    readonly plain: string,
    readonly syntax: string = plain,
  ) {}
}

/** An `Object{}` as a record, or the reason why it cannot be one. */
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
        return { problem: `map key ${quoteKey(key)} is of type ${goTypeName(key)}, not string` };
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
  if (!(value instanceof PatchObject)) return nonJsonValue(value);
  const record = recordOfObject(value);
  return typeof record === 'string' ? new NonJsonValue('*types.Err', record) : record;
}

function nonJsonValue(value: CelValue): NonJsonValue {
  if (value === null) return new NonJsonValue('structpb.NullValue', 'NULL_VALUE', '0');
  if (value instanceof CelUint) {
    return new NonJsonValue('uint64', String(value.value), `0x${value.value.toString(16)}`);
  }
  if (value instanceof CelDuration) return new NonJsonValue('time.Duration', printValue(value), String(value.nanos));
  if (value instanceof CelTimestamp) return new NonJsonValue('time.Time', printValue(value), timeSyntax(value));
  if (value instanceof CelBytes) {
    const bytes = Array.from(value.bytes, (byte) => `0x${byte.toString(16)}`);
    return new NonJsonValue('[]uint8', printValue(value), `[]uint8{${bytes.join(', ')}}`);
  }
  if (value instanceof ArrayList || value instanceof CelList) {
    const items = itemsOf(value).map(plainValue);
    return new NonJsonValue(
      '[]ref.Val',
      `[${items.map(plainText).join(' ')}]`,
      `[]ref.Val{${items.map(syntax).join(', ')}}`,
    );
  }
  if (value instanceof EntryMap || value instanceof CelMap) {
    const entries = [...value.keys()].map((key) => [plainValue(key), plainValue(value.get(key) ?? null)] as const);
    const plain = entries.map(([key, item]) => `${plainText(key)}:${plainText(item)}`);
    const syntaxes = entries.map(([key, item]) => `${syntax(key)}:${syntax(item)}`);
    return new NonJsonValue(
      'map[ref.Val]ref.Val',
      `map[${plain.join(' ')}]`,
      `map[ref.Val]ref.Val{${syntaxes.join(', ')}}`,
    );
  }
  return new NonJsonValue(goTypeOf(value), printValue(value));
}

function plainText(value: unknown): string {
  return value instanceof NonJsonValue ? value.plain : printGoValue(value);
}

function syntax(value: unknown): string {
  return value instanceof NonJsonValue ? value.syntax : goSyntax(value);
}

/** The Go types of CEL library values. */
function goTypeOf(value: CelValue): string {
  const name = typeNameOf(value).split('.').at(-1) ?? '';
  if (name === 'Quantity') return '*resource.Quantity';
  return name === 'URL' ? '*url.URL' : goTypeName(value);
}

const NANOS = 1_000_000_000n;

function timeSyntax({ nanos }: CelTimestamp): string {
  const fraction = ((nanos % NANOS) + NANOS) % NANOS;
  const date = new Date(Number((nanos - fraction) / NANOS) * 1000);
  const day = `${date.getUTCFullYear()}, time.${MONTH_NAMES[date.getUTCMonth()]}, ${date.getUTCDate()}`;
  const clock = `${date.getUTCHours()}, ${date.getUTCMinutes()}, ${date.getUTCSeconds()}, ${fraction}`;
  return `time.Date(${day}, ${clock}, time.UTC)`;
}

/** A key that is not a string, printed as Go's %q prints a number: as a character. */
function quoteKey(key: CelValue): string {
  const code = key instanceof CelUint ? key.value : typeof key === 'bigint' ? key : undefined;
  // The reference server formats this message twice, which garbles the verb.
  if (code === undefined) return `%!!(MISSING)q(${goTypeName(key)}=${printValue(key)})`;
  if (code < 0n || code > 0x10ffffn) return "'\uFFFD'";
  const character = quote(String.fromCodePoint(Number(code))).slice(1, -1);
  return `'${character === '\\"' ? '"' : character === "'" ? "\\'" : character}'`;
}
