/**
 * Wire order of custom resources: they are maps on the wire, which are written with sorted keys.
 */
import { compareUtf8 } from '../../text/go/go-value.js';
import type { MutableRecord } from '../../util/json.js';
import { isRecord, setOwn } from '../../util/json.js';

/** Sorts all keys recursively. Returns the value itself if they are already sorted. */
export function inWireOrder<Value>(value: Value): Value {
  return ordered(value) as Value;
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const item = ordered(value[index]);
      if (item === value[index]) continue;
      copy ??= [...value];
      copy[index] = item;
    }
    return copy ?? value;
  }
  return isRecord(value) ? withOrderedKeys(value, ordered) : value;
}

/** Returns an object with sorted keys and each value mapped by `inner`; the object itself if nothing changes. */
export function withOrderedKeys(
  record: Record<string, unknown>,
  inner: (value: unknown) => unknown = (value) => value,
): Record<string, unknown> {
  const keys = Object.keys(record);
  const values = keys.map((key) => inner(record[key]));
  const isInOrder = keys.every((key, index) => index === 0 || compareUtf8(keys[index - 1] ?? '', key) < 0);
  if (isInOrder && values.every((value, index) => value === record[keys[index] ?? ''])) return record;
  const out: MutableRecord = {};
  const entries = keys.map((key, index): [string, unknown] => [key, values[index]]);
  for (const [key, value] of entries.sort(([left], [right]) => compareUtf8(left, right))) setOwn(out, key, value);
  return out;
}
