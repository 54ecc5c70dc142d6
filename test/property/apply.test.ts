/**
 * Apply, whatever is applied: what always holds of intents, of sets of fields and of objects that many work on.
 */
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { pathsOf, printPath } from '../../src/merge/apply/field-set.js';
import { merge } from '../../src/merge/apply/merge.js';
import { fieldsOfObject } from '../../src/merge/apply/owned-fields.js';
import type { ApiObject } from '../../src/meta/object.js';
import {
  anyHistory,
  anySubject,
  type Document,
  isBlank,
  MAKER,
  Shared,
  SUBJECTS,
  schemaOf,
  substanceOf,
  type Write,
} from './applies.js';
import { claimsOf, entriesOf, isOrdered, NOTHING_THERE, unfrozen, valueAt } from './owned.js';

vi.setConfig({ testTimeout: 30_000 });

const subjectAndIntents = anySubject.chain((subject) =>
  fc.record({ subject: fc.constant(subject), first: subject.intent, second: subject.intent }),
);

/**
 * Not so of nulls and zeros that the server forgets: they are applied anew each time, at another time, and where that
 * changes the order of the managers the object is another one.
 */
test('what is applied twice is written once', async () => {
  await fc.assert(
    fc.asyncProperty(subjectAndIntents, async ({ subject, first, second }) => {
      const shared = await Shared.make(subject);
      await shared.attempt({ type: 'apply', by: 'b', force: true, document: second });
      const isApplied = await shared.attempt({ type: 'apply', by: 'a', force: true, document: substanceOf(first) });
      fc.pre(isApplied);
      const once = await shared.get();
      await shared.cluster.clock.advance(5_000);
      expect(await shared.apply('a', substanceOf(first))).toBe(once);
      expect(await shared.get()).toBe(once);
    }),
    { numRuns: 60 },
  );
});

/** Who comes first decides where items stand, and nothing else. */
function withoutOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOrder).sort(byText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutOrder(inner)]));
}

const byText = (left: unknown, right: unknown) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1);

/** An object without what counts writes. */
function contentOf({ metadata, ...rest }: ApiObject): Document {
  const { resourceVersion: _version, generation: _generation, uid: _uid, managedFields: _managers, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

const ownedBy = (object: ApiObject) =>
  Object.fromEntries(
    entriesOf(object).map(({ manager, fieldsV1 }) => [manager, [...pathsOf(fieldsV1)].map(printPath)]),
  );

const subjectAndApart = anySubject.chain((subject) => fc.tuple(fc.constant(subject), subject.apart));

test('managers of different fields never are in conflict, and their order does not matter', async () => {
  await fc.assert(
    fc.asyncProperty(
      subjectAndApart,
      fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
      async ([subject, parts], order) => {
        const [straight, shuffled] = [await Shared.make(subject), await Shared.make(subject)];
        for (const id of [0, 1, 2]) await straight.apply(`m${id}`, parts[id] ?? {});
        for (const id of order) await shuffled.apply(`m${id}`, parts[id] ?? {});
        const [one, other] = [await straight.get(), await shuffled.get()];
        expect(withoutOrder(contentOf(other))).toEqual(withoutOrder(contentOf(one)));
        expect(ownedBy(other)).toEqual(ownedBy(one));
      },
    ),
    { numRuns: 60 },
  );
});

test('whoever gives up everything leaves the object as the others made it', async () => {
  await fc.assert(
    fc.asyncProperty(subjectAndApart, fc.nat(2), async ([subject, parts], guest) => {
      const [without, visited] = [await Shared.make(subject), await Shared.make(subject)];
      for (const [id, part] of parts.entries()) {
        if (id !== guest) await without.apply(`m${id}`, part);
        await visited.apply(`m${id}`, part);
      }
      await visited.apply(`m${guest}`, {});
      const [expected, left] = [await without.get(), await visited.get()];
      expect(contentOf(left)).toEqual(contentOf(expected));
      expect(ownedBy(left)).toEqual(ownedBy(expected));
    }),
    { numRuns: 60 },
  );
});

test.each(SUBJECTS.map((subject) => [subject.kind.kind, subject] as const))(
  'a merge of %s invents nothing: every field is as it was applied or as it was',
  (_kind, subject) => {
    const schema = schemaOf(subject);
    fc.assert(
      fc.property(subject.intent, subject.intent, (live, applied) => {
        const merged = merge(schema, live, applied);
        for (const path of pathsOf(fieldsOfObject(schema, merged))) {
          const [is, wanted, was] = [merged, applied, live].map((side) => valueAt(side, path));
          // Of what goes on below it is not said here: that has paths of its own.
          if (typeof is === 'object' && is !== null)
            expect(wanted !== NOTHING_THERE || was !== NOTHING_THERE).toBe(true);
          else expect(is).toEqual(wanted === NOTHING_THERE ? was : wanted);
        }
      }),
      { numRuns: 200 },
    );
  },
);

/** What each applier last got accepted, by its name and the path below the object. */
class Intents {
  readonly #last = new Map<string, Document>();

  note(write: Write): void {
    switch (write.type) {
      case 'apply':
        this.#last.set(`${write.by} `, write.document);
        break;
      case 'applyStatus':
        this.#last.set(`${write.by} status`, { status: write.document });
        break;
      case 'applyScale':
        this.#last.set(`${write.by} scale`, { spec: write.document });
    }
  }

  of(manager: string, subresource: string): Document | undefined {
    return this.#last.get(`${manager} ${subresource}`);
  }
}

test('after any history the sets tell the truth about the object', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async ({ subject, writes }) => {
      const shared = await Shared.make(subject);
      const intents = new Intents();
      for (const write of writes) {
        await shared.cluster.clock.advance(500);
        const before = await shared.get();
        const isDone = await shared.attempt(write);
        const after = await shared.get();
        if (isDone) intents.note(write);
        else expect(after).toBe(before);
        expectTruth(after, intents);
      }
    }),
    { numRuns: 80 },
  );
});

function expectTruth(object: ApiObject, intents: Intents): void {
  const entries = entriesOf(object);
  expect(unfrozen(object)).toEqual([]);
  expect(isOrdered(entries)).toBe(true);
  expect(new Set(entries.map(identityOf)).size).toBe(entries.length);
  for (const entry of entries) {
    const { manager = '', operation, subresource = '' } = entry;
    const claims = claimsOf(entry);
    expect(claims).not.toEqual([]);
    const intent = operation === 'Apply' && manager !== MAKER ? intents.of(manager, subresource) : undefined;
    for (const path of claims) {
      const there = valueAt(object, path);
      if (intent === undefined) {
        // Whoever updates, and the maker whom nobody can take by surprise, own what is there.
        expect([printPath(path), there], `${manager} ${operation}`).not.toEqual([printPath(path), NOTHING_THERE]);
        continue;
      }
      const wanted = valueAt(intent, path);
      // An applier owns nothing that it did not name. What it named as null, as empty or as zero need not be there.
      expect([printPath(path), wanted], manager).not.toEqual([printPath(path), NOTHING_THERE]);
      if (!isBlank(wanted)) expect(there, printPath(path)).not.toBe(NOTHING_THERE);
      // And as long as it owns a value, it is the one that it wanted.
      if (typeof wanted !== 'object' && !isBlank(wanted))
        expect([printPath(path), there]).toEqual([printPath(path), wanted]);
    }
  }
}

const identityOf = ({ manager, operation, apiVersion, subresource }: ReturnType<typeof entriesOf>[number]) =>
  JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
