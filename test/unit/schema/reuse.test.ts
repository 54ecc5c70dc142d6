/** Reuse of parts of stored objects, alone and in long lists. */
import { expect, test } from 'vitest';
import { CronJob } from '../../../src/kinds/batch/v1/cron-job.js';
import { decode } from '../../../src/schema/decode.js';
import { ReusableParts } from '../../../src/schema/reuse.js';
import type { ObjectNode } from '../../../src/schema/schema-node.js';

const schema = CronJob.schema as ObjectNode;
const status = schema.fields.get('status')?.node as ObjectNode;
const list = status.fields.get('active')?.node;
if (list?.type !== 'list' || list.items.type !== 'object') throw new Error('a CronJob names its active Jobs in a list');
const { items: reference } = list;

const referenceTo = (name: string) => Object.freeze({ kind: 'Job', name });
const objectWith = (active: readonly object[]) =>
  Object.freeze({ status: Object.freeze({ active: Object.freeze([...active]) }) });

test('recognizes items of a list in any order', () => {
  const known = new ReusableParts();
  const items = ['a', 'b', 'c', 'd'].map(referenceTo);
  known.register(schema, objectWith(items));
  const indexes = [0, 1, 1, 3, 2, 0, 1, 2, 3, 3, 0];
  expect(indexes.map((at) => known.has(items[at] as object, reference))).toEqual(indexes.map(() => true));
  expect(known.has(items[0] as object, status)).toBe(false);
  expect(known.has({ kind: 'Job', name: 'a' }, reference)).toBe(false);
  expect([known.has(items[0] as object, reference), known.has(referenceTo('b'), reference)]).toEqual([true, false]);
  expect(known.has(items[1] as object, status)).toBe(false);
});

test('recognizes items of a list that loses and gains items', () => {
  const known = new ReusableParts();
  const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(referenceTo) as [object, object, object, object, object];
  const first = objectWith([a, b, c]);
  const second = objectWith([a, c, d]);
  known.register(schema, first);
  known.register(schema, second, first);
  for (const item of [a, b, c, d, a, c, d]) expect(known.has(item, reference)).toBe(true);
  expect(known.has(e, reference)).toBe(false);
  known.register(schema, objectWith([a, c, d, e]), second);
  for (const item of [a, c, d, e]) expect(known.has(item, reference)).toBe(true);
});

test('reuses known items of a decoded list and freezes the others', () => {
  const known = new ReusableParts();
  const [a, b] = [referenceTo('a'), referenceTo('b')];
  known.register(schema, objectWith([a, b]));
  const fresh = { name: 'c', kind: 'Job' };
  const value = { status: { active: [a, fresh, b, null] } };
  const decoded = decode(schema, { value }, (part, node) => known.has(part, node));
  const { active } = decoded.value['status'] as { active: readonly object[] };
  expect(active).toEqual([a, { kind: 'Job', name: 'c' }, b, {}]);
  expect(Object.keys(active[1] as object)).toEqual(['kind', 'name']);
  expect([active[0] === a, active[1] === fresh, active[2] === b]).toEqual([true, false, true]);
  expect([Object.isFrozen(active), Object.isFrozen(active[1]), Object.isFrozen(fresh)]).toEqual([true, true, false]);
});

test('leaves a list without known items mutable', () => {
  const known = new ReusableParts();
  const value = { status: { active: [{ name: 'c', kind: 'Job' }] } };
  const decoded = decode(schema, { value }, (part, node) => known.has(part, node));
  const { active } = decoded.value['status'] as { active: readonly object[] };
  expect([Object.isFrozen(active), Object.isFrozen(active[0])]).toEqual([false, false]);
});
