/**
 * The fast path of ownership updates, which does not compute the changed fields, gives the same result as the general path
 * for any objects and managers.
 */
import { expect, test } from 'vitest';
import { EMPTY_SET, type FieldSet, sameSet } from '../../src/merge/apply/field-set.js';
import { isWrittenByServer, type Managers, NO_MANAGERS, writeManagers } from '../../src/merge/apply/managers.js';
import {
  applyIntent,
  entriesAfterOwnChange,
  managersAfterAnyUpdate,
  managersAfterUpdate,
  type Versioned,
  type Versions,
} from '../../src/merge/apply/ownership.js';
import { isExactAddition } from '../../src/merge/apply/same-owners.js';
import type { ObjectNode } from '../../src/schema/schema-node.js';
import { deepFreeze } from '../../src/util/json.js';
import { any, atomicMap, keyed, list, map, number, open, set, string, struct } from '../unit/merge/apply/nodes.js';
import fc from './seeded.js';

const SCHEMA: ObjectNode = struct({
  text: string,
  count: number,
  whole: list(string),
  lump: atomicMap(string),
  labels: map(string),
  words: set(string),
  parts: keyed(['name'], { name: string, size: number }),
  inner: struct({ text: string, deep: struct({ count: number, labels: map(string) }) }),
  rest: open({ text: string }),
  loose: any,
});

const text = fc.constantFrom('a', 'b', 'c');
const few = fc.integer({ min: 0, max: 2 });
const labels = fc.dictionary(text, text, { maxKeys: 3 });
const sometimes = { requiredKeys: [] };
const document = fc.record(
  {
    text,
    count: few,
    whole: fc.array(text, { maxLength: 2 }),
    lump: labels,
    labels: fc.oneof(labels, fc.constant(null)),
    words: fc.uniqueArray(text, { maxLength: 3 }),
    parts: fc.uniqueArray(fc.record({ name: text, size: few }), { maxLength: 3, selector: ({ name }) => name }),
    inner: fc.record({ text, deep: fc.record({ count: few, labels }, sometimes), unknown: text }, { requiredKeys: [] }),
    rest: fc.record({ text, other: text }, sometimes),
    loose: fc.oneof(text, labels, fc.array(few, { maxLength: 2 })),
    unknown: text,
  },
  sometimes,
);

const write = fc.record({
  by: fc.constantFrom('a', 'b', 'c'),
  verb: fc.constantFrom('update', 'update', 'update', 'apply'),
  seconds: few,
  document,
});

const versions: Versions = { convert: (object) => object, filter: (fields) => fields };
const versioned = (value: unknown): Versioned => ({ apiVersion: 'v1', schema: SCHEMA, value });
const timeOf = (seconds: number) => `2024-01-01T00:00:0${seconds}Z`;

test('moves ownership in an update on the fast path as on the general path', () => {
  let shortened = 0;
  let fromEntries = 0;
  fc.assert(
    fc.property(document, fc.array(write, { minLength: 2, maxLength: 8 }), (first, writes) => {
      let value: unknown = first;
      let managers: Managers = NO_MANAGERS;
      for (const { by: manager, verb, seconds, document: next } of writes) {
        const now = timeOf(seconds);
        if (verb === 'apply') {
          const by = { manager, operation: 'Apply', apiVersion: 'v1', subresource: '' } as const;
          const intent = { text: (next as { text?: string }).text ?? 'a', inner: { text: 'b' } };
          const applied = applyIntent({ live: versioned(value), intent, managers, by, force: true, now }, versions);
          value = applied.object ?? value;
          managers = applied.managers;
          continue;
        }
        const by = { manager, operation: 'Update', apiVersion: 'v1', subresource: '' } as const;
        // Most fields often stay unchanged.
        const after = seconds === 0 ? next : { ...(value as object), text: (next as { text?: string }).text ?? 'c' };
        const update = { before: versioned(value), after: versioned(after), managers, by, now };
        const long = managersAfterAnyUpdate(update, versions);
        const short = managersAfterUpdate(update, versions);
        expect(writeManagers(short)).toStrictEqual(writeManagers(long));
        const stored = deepFreeze(writeManagers(managers));
        const again = entriesAfterOwnChange(update, stored);
        if (again !== undefined && again !== 'other') {
          fromEntries++;
          expect(again).toStrictEqual(writeManagers(long));
          expect(isWrittenByServer(deepFreeze(again))).toBe(true);
        }
        if (short !== long && short.size === managers.size) shortened++;
        value = after;
        managers = long;
      }
    }),
    { numRuns: 2_000 },
  );
  expect(shortened).toBeGreaterThan(1_000);
  expect(fromEntries).toBeGreaterThan(500);
});

function ownedAnew(before: unknown, after: unknown): FieldSet {
  const by = { manager: 'a', operation: 'Update', apiVersion: 'v1', subresource: '' } as const;
  const update = { before: versioned(before), after: versioned(after), managers: NO_MANAGERS, by, now: timeOf(0) };
  const [manager] = managersAfterAnyUpdate(update, versions).values();
  return manager?.fields ?? EMPTY_SET;
}

const EMPTY = { inner: { deep: {} }, labels: null, parts: null };

test('reports an exact addition only when the general path finds the same fields', () => {
  let found = 0;
  fc.assert(
    fc.property(document, document, fc.constantFrom({}, EMPTY), (first, second, before) => {
      const fields = ownedAnew(before, first);
      for (const after of [first, second]) {
        if (!isExactAddition(SCHEMA, before, after, fields)) continue;
        found++;
        expect(sameSet(fields, ownedAnew(before, after))).toBe(true);
      }
    }),
    { numRuns: 3_000 },
  );
  expect(found).toBeGreaterThan(1_000);
});
