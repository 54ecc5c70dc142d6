/**
 * Properties of apply, of field sets and of objects with several managers.
 */

import { expect, test } from 'vitest';
import { walkPaths } from '../../src/client/explain/field-values.js';
import {
  difference,
  EMPTY_SET,
  type FieldSet,
  intersection,
  isSubset,
  printPath,
  recursiveDifference,
  sameSet,
  union,
} from '../../src/merge/apply/field-set.js';
import { fieldsOfObject } from '../../src/merge/apply/intent-fields.js';
import { readFieldsV1 } from '../../src/merge/apply/managers.js';
import { merge } from '../../src/merge/apply/merge.js';
import { fieldElement, keyElement, valueElement } from '../../src/merge/apply/path-element.js';
import type { ApiObject } from '../../src/meta/object.js';
import { deepFreeze } from '../../src/util/json.js';
import {
  anyHistory,
  anySubject,
  type Document,
  isBlank,
  MAKER,
  SharedObject,
  SUBJECTS,
  schemaOf,
  type Write,
  withoutBlanks,
} from './apply-histories.js';
import { claimsOf, entriesOf, isOrdered, NO_VALUE, unfrozen, valueAt } from './owned-fields.js';
import fc from './seeded.js';

const subjectAndIntents = anySubject.chain((subject) =>
  fc.record({ subject: fc.constant(subject), first: subject.intent, second: subject.intent }),
);

/**
 * Excludes nulls and zeros that the server drops: they are applied again each time with a new timestamp, which may change
 * the order of the managers.
 */
test('writes an object once when the same intent is applied twice', async () => {
  await fc.assert(
    fc.asyncProperty(subjectAndIntents, async ({ subject, first, second }) => {
      const shared = await SharedObject.make(subject);
      await shared.attempt({ type: 'apply', by: 'b', force: true, document: second });
      const isApplied = await shared.attempt({ type: 'apply', by: 'a', force: true, document: withoutBlanks(first) });
      fc.pre(isApplied);
      const once = await shared.get();
      await shared.cluster.clock.advance(5_000);
      expect(await shared.apply('a', withoutBlanks(first))).toBe(once);
      expect(await shared.get()).toBe(once);
    }),
    { numRuns: 30 },
  );
});

/** Removes the order of list items, which depends on the first writer. */
function withoutOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOrder).sort(byText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutOrder(inner)]));
}

const byText = (left: unknown, right: unknown) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1);

/** An object without versions, generation and managers. */
function contentOf({ metadata, ...rest }: ApiObject): Document {
  const { resourceVersion: _version, generation: _generation, uid: _uid, managedFields: _managers, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

const ownedBy = (object: ApiObject) =>
  Object.fromEntries(
    entriesOf(object).map(({ manager, fieldsV1 }) => [manager, [...walkPaths(fieldsV1, 'members')].map(printPath)]),
  );

const subjectAndDisjoint = anySubject.chain((subject) => fc.tuple(fc.constant(subject), subject.disjoint));

test('applies intents without common fields without conflicts and in any order', async () => {
  await fc.assert(
    fc.asyncProperty(
      subjectAndDisjoint,
      fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
      async ([subject, parts], order) => {
        const [straight, shuffled] = [await SharedObject.make(subject), await SharedObject.make(subject)];
        for (const id of [0, 1, 2]) await straight.apply(`m${id}`, parts[id] ?? {});
        for (const id of order) await shuffled.apply(`m${id}`, parts[id] ?? {});
        const [one, other] = [await straight.get(), await shuffled.get()];
        expect(withoutOrder(contentOf(other))).toEqual(withoutOrder(contentOf(one)));
        expect(ownedBy(other)).toEqual(ownedBy(one));
      },
    ),
    { numRuns: 30 },
  );
});

test('restores the object of the other managers when one manager gives up all fields', async () => {
  await fc.assert(
    fc.asyncProperty(subjectAndDisjoint, fc.nat(2), async ([subject, parts], guest) => {
      const [without, visited] = [await SharedObject.make(subject), await SharedObject.make(subject)];
      for (const [id, part] of parts.entries()) {
        if (id !== guest) await without.apply(`m${id}`, part);
        await visited.apply(`m${id}`, part);
      }
      await visited.apply(`m${guest}`, {});
      const [expected, left] = [await without.get(), await visited.get()];
      expect(contentOf(left)).toEqual(contentOf(expected));
      expect(ownedBy(left)).toEqual(ownedBy(expected));
    }),
    { numRuns: 30 },
  );
});

test.each(SUBJECTS.map((subject) => [subject.kind.kind, subject] as const))(
  'merges %s so that every field has its applied or its earlier value',
  (_kind, subject) => {
    const schema = schemaOf(subject);
    fc.assert(
      fc.property(subject.intent, subject.intent, (live, applied) => {
        const merged = merge(schema, live, applied);
        for (const path of walkPaths(fieldsOfObject(schema, merged), 'members')) {
          const [is, wanted, was] = [merged, applied, live].map((side) => valueAt(side, path));
          // Nested values have their own paths.
          if (typeof is === 'object' && is !== null) expect(wanted !== NO_VALUE || was !== NO_VALUE).toBe(true);
          else expect(is).toEqual(wanted === NO_VALUE ? was : wanted);
        }
      }),
      { numRuns: 200 },
    );
  },
);

const names = fc.constantFrom('a', 'b', 'B', '\u00e9', '', '.', 'x.io/y', 'constructor', '1');
const scalars = fc.oneof<fc.Arbitrary<unknown>[]>(
  names,
  fc.integer({ min: -2, max: 12 }),
  fc.boolean(),
  fc.constant(1.5),
);
const element = fc.oneof(
  { arbitrary: names.map(fieldElement), weight: 6 },
  {
    arbitrary: fc
      .uniqueArray(fc.constantFrom('name', 'port', 'protocol'), { minLength: 1 })
      .chain((keys) => fc.tuple(...keys.toSorted().map((key) => fc.tuple(fc.constant(key), scalars))))
      .map(keyElement),
    weight: 2,
  },
  { arbitrary: scalars.map(valueElement), weight: 2 },
  { arbitrary: fc.nat(12).map((place) => `i:${place}`), weight: 1 },
);
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 });

type Paths = readonly (readonly string[])[];

/** A set with one path. */
const single = (path: readonly string[]) => path.reduceRight<FieldSet>((inner, step) => ({ [step]: inner }), EMPTY_SET);
const setOf = (all: Paths) => all.reduce((set, path) => union(set, single(path)), EMPTY_SET);
/** Paths as a plain set of strings. */
const plain = (all: Iterable<readonly string[]>) => new Set([...all].map((path) => JSON.stringify(path)));
const pathsIn = (set: FieldSet) => plain(walkPaths(set, 'members'));

/** The same encoding with its elements, and the keys within them, in another order. */
function inOtherOrder(set: FieldSet, salt: number): FieldSet {
  const mixed = Object.entries(set).map(
    ([step, node]) => [withOtherKeyOrder(step, salt), inOtherOrder(node, salt)] as const,
  );
  return Object.fromEntries(mixed.sort(([left], [right]) => shuffleRank(left, salt) - shuffleRank(right, salt)));
}

function withOtherKeyOrder(step: string, salt: number): string {
  if (!step.startsWith('k:')) return step;
  const keys = Object.entries(JSON.parse(step.slice(2)) as object);
  return `k:${JSON.stringify(Object.fromEntries(salt % 2 === 0 ? keys.reverse() : keys))}`;
}

const shuffleRank = (text: string, salt: number) =>
  [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0) * salt) % 9973, salt);

test('encodes a field set the same way regardless of how it was built or read', () => {
  fc.assert(
    fc.property(paths, fc.integer({ min: 1, max: 9999 }), (all, salt) => {
      const set = setOf(all);
      expect(pathsIn(set)).toEqual(plain(all));
      const encoding = JSON.stringify(set);
      expect(JSON.stringify(readFieldsV1(JSON.parse(encoding)))).toBe(encoding);
      expect(JSON.stringify(readFieldsV1(inOtherOrder(set, salt)))).toBe(encoding);
      expect(JSON.stringify(setOf(all.toReversed()))).toBe(encoding);
    }),
    { numRuns: 500 },
  );
});

test('implements union, intersection and difference of field sets', () => {
  fc.assert(
    fc.property(paths, paths, (mine, yours) => {
      const [left, right] = [setOf(mine), setOf(yours)];
      const [inLeft, inRight] = [plain(mine), plain(yours)];
      const both = intersection(left, right);
      const rest = difference(left, right);
      expect(pathsIn(union(left, right))).toEqual(new Set([...inLeft, ...inRight]));
      expect(pathsIn(both)).toEqual(new Set([...inLeft].filter((path) => inRight.has(path))));
      expect(pathsIn(rest)).toEqual(new Set([...inLeft].filter((path) => !inRight.has(path))));
      expect(JSON.stringify(union(both, rest))).toBe(JSON.stringify(left));
      expect(sameSet(union(left, right), union(right, left))).toBe(true);
      expect(isSubset(both, right)).toBe(true);
      expect(isSubset(left, right)).toBe([...inLeft].every((path) => inRight.has(path)));
      const covered = (path: readonly string[]) => yours.some((each) => each.every((step, at) => path[at] === step));
      expect(pathsIn(recursiveDifference(left, right))).toEqual(plain(mine.filter((path) => !covered(path))));
    }),
    { numRuns: 500 },
  );
});

test('does not change the operands of set operations', () => {
  fc.assert(
    fc.property(paths, paths, (mine, yours) => {
      const [left, right] = [deepFreeze(setOf(mine)), deepFreeze(setOf(yours))];
      const before = JSON.stringify([left, right]);
      for (const operation of [union, intersection, difference, recursiveDifference]) operation(left, right);
      expect(JSON.stringify([left, right])).toBe(before);
    }),
    { numRuns: 200 },
  );
});

/** The last accepted intent of each applier by manager and subresource, and the last value at each path. */
class AppliedIntents {
  readonly #last = new Map<string, Document>();
  /** The last value at each owned path. */
  readonly values = new Map<string, unknown>();

  note(write: Write): void {
    switch (write.type) {
      case 'apply':
        this.#last.set(`${write.by} `, write.document);
        break;
      case 'applyStatus':
        this.#last.set(`${write.by} status`, { status: write.document });
        break;
      case 'applyScale':
        // A scale apply without replicas still names spec, and the manager keeps the replicas that it owned.
        if ('replicas' in write.document) this.#last.set(`${write.by} scale`, { spec: write.document });
        else this.#last.delete(`${write.by} scale`);
    }
  }

  of(manager: string, subresource: string): Document | undefined {
    return this.#last.get(`${manager} ${subresource}`);
  }
}

test('keeps managedFields consistent with the object after any history', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async ({ subject, writes }) => {
      const shared = await SharedObject.make(subject);
      const intents = new AppliedIntents();
      for (const write of writes) {
        await shared.cluster.clock.advance(500);
        const before = await shared.get();
        const isDone = await shared.attempt(write);
        const after = await shared.get();
        if (isDone) intents.note(write);
        else expect(after).toBe(before);
        expectConsistentOwners(after, intents);
      }
    }),
    { numRuns: 40 },
  );
});

function expectConsistentOwners(object: ApiObject, intents: AppliedIntents): void {
  const entries = entriesOf(object);
  expect(unfrozen(object)).toEqual([]);
  expect(isOrdered(entries)).toBe(true);
  // An unchanged scale write leaves its manager twice, once without a time.
  const timed = entries.filter(({ time }) => time !== undefined);
  expect(new Set(timed.map(identityOf)).size).toBe(timed.length);
  for (const entry of entries) {
    const { manager = '', operation, subresource = '' } = entry;
    const claims = claimsOf(entry);
    expect(claims).not.toEqual([]);
    const intent = operation === 'Apply' && manager !== MAKER ? intents.of(manager, subresource) : undefined;
    for (const path of claims) {
      const there = valueAt(object, path);
      const text = printPath(path);
      if (there !== NO_VALUE) intents.values.set(text, there);
      if (intent === undefined) {
        // Updaters and the creator own existing fields. An empty map is removed with its last member, and a manager that
        // owned the map itself keeps it.
        if (there === NO_VALUE) expect(typeof intents.values.get(text), `${manager} ${text}`).toBe('object');
        continue;
      }
      const wanted = valueAt(intent, path);
      // An applier owns only fields of its intent. Null, empty and zero values may be absent.
      expect(wanted, `${manager} ${text}`).not.toBe(NO_VALUE);
      if (!isBlank(wanted)) expect(there, `${manager} ${text}`).not.toBe(NO_VALUE);
      // While an applier owns a value, it is the applied value.
      if (typeof wanted !== 'object' && !isBlank(wanted)) expect([text, there]).toEqual([text, wanted]);
    }
  }
}

const identityOf = ({ manager, operation, apiVersion, subresource }: ReturnType<typeof entriesOf>[number]) =>
  JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
