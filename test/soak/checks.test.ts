/**
 * The checks of the soak test fail when a promise is violated.
 */
import { describe, expect, test } from 'vitest';
import {
  Counter,
  compareMemory,
  comparePages,
  Ledger,
  Replica,
  Report,
  type Stored,
  type StoredList,
} from './checks.js';

const map = (name: string, version: number, text = ''): Stored => ({
  metadata: { name, namespace: 'default', resourceVersion: String(version) },
  data: { text },
});
const list = (version: number, ...items: Stored[]): StoredList => ({
  metadata: { resourceVersion: String(version) },
  items,
});
const typed = (object: Stored): Stored => ({ kind: 'ConfigMap', apiVersion: 'v1', ...object });

describe('the comparison of a watch', () => {
  function following(): Replica {
    const replica = new Replica();
    replica.reset(list(2, map('a', 1), map('b', 2)));
    return replica;
  }

  test('accepts the events of all changes', () => {
    const replica = following();
    expect(replica.apply({ type: 'MODIFIED', object: typed(map('a', 3, 'new')) })).toBeUndefined();
    expect(replica.apply({ type: 'DELETED', object: typed(map('b', 4)) })).toBeUndefined();
    expect(replica.apply({ type: 'ADDED', object: typed(map('c', 5)) })).toBeUndefined();
    expect(replica.apply({ type: 'BOOKMARK', object: map('', 6) })).toBeUndefined();
    expect(replica.compare(list(6, map('a', 3, 'new'), map('c', 5)))).toBeUndefined();
  });

  test('reports an event with other content than the list', () => {
    const replica = following();
    replica.apply({ type: 'MODIFIED', object: typed(map('a', 3, 'tampered')) });
    expect(replica.compare(list(3, map('a', 3, 'new'), map('b', 2)))).toMatch(/default\/a is .*tampered.* instead of/);
  });

  test('reports missing, invented, repeated and reordered events', () => {
    expect(following().compare(list(2, map('a', 1)))).toMatch('default/b should not be there');
    expect(following().compare(list(2, map('a', 1), map('b', 2), map('c', 2)))).toMatch('default/c is missing');
    expect(following().compare(list(3, map('a', 1), map('b', 2)))).toMatch('a list at version 2 returned version 3');
    expect(following().apply({ type: 'MODIFIED', object: map('b', 2) })).toMatch('delivered MODIFIED of version 2');
    expect(following().apply({ type: 'BOOKMARK', object: map('', 1) })).toMatch('delivered BOOKMARK of version 1');
    expect(following().apply({ type: 'ADDED', object: map('a', 3) })).toMatch('which is known');
    expect(following().apply({ type: 'MODIFIED', object: map('c', 3) })).toMatch('which is not known');
    expect(following().apply({ type: 'DELETED', object: map('c', 3) })).toMatch('which is not known');
  });
});

test('the comparison of pages reports other versions, repeated, missing and different objects', () => {
  const [a, b] = [map('a', 1), map('b', 2)];
  expect(comparePages([list(2, a), list(2, b)], list(2, a, b))).toBeUndefined();
  expect(comparePages([list(2, a), list(3, b)], list(2, a, b))).toMatch('versions 2, 3');
  expect(comparePages([list(2, a), list(2, a)], list(2, a, b))).toMatch('1 objects twice');
  expect(comparePages([list(2, a)], list(2, a, b))).toMatch('default/b is missing');
  expect(comparePages([list(2, a), list(2, map('b', 2, 'x'))], list(2, a, b))).toMatch('default/b is');
});

test('a counter reports lost and repeated increments', () => {
  const counter = new Counter();
  counter.sent();
  counter.acknowledge(1);
  expect(counter.read(0)).toBe('a counter is 0, expected 1 to 1');
  expect(counter.read(2)).toBe('a counter is 2, expected 1 to 1');
  expect(counter.read(Number.NaN)).toMatch('a counter is NaN');
  // Without a response, both results are possible, once.
  counter.sent();
  expect(counter.read(1)).toBeUndefined();
  expect(counter.read(2)).toBeUndefined();
  expect(counter.read(1)).toBe('a counter is 1, expected 2 to 2');
  expect(counter.read(3)).toBe('a counter is 3, expected 2 to 2');
  counter.sent();
  counter.rejected();
  expect(counter.read(3)).toBe('a counter is 3, expected 2 to 2');
  expect(counter.acknowledged).toBe(2);
});

test('a ledger reports acknowledged writes that are lost', () => {
  const ledger = new Ledger();
  ledger.sent('a', 'one');
  ledger.acknowledged('a');
  expect(ledger.read('a', undefined)).toBe('a is absent, expected one');
  ledger.sent('a', 'two');
  expect(ledger.isCertain('a')).toBe(false);
  expect(ledger.read('a', 'other')).toBe('a is other, expected one or two');
  expect(ledger.read('a', 'two')).toBeUndefined();
  expect(ledger.isCertain('a')).toBe(true);
  ledger.sent('a', 'three');
  ledger.rejected('a');
  expect(ledger.read('a', 'three')).toBe('a is three, expected two');
  ledger.sent('a', undefined);
  ledger.acknowledged('a');
  expect(ledger.read('a', 'two')).toBe('a is two, expected absent');
  expect(ledger.read('unknown', 'x')).toBe('unknown is x, expected absent');
});

test('the comparison of memory reports growth', () => {
  expect(compareMemory(150, 160)).toBeUndefined();
  expect(compareMemory(150, 300)).toBe('the heap grew from 150 MB after the warm-up to 300 MB at the end');
});

test('a report collects the problems that checks return and stops a run with many of them', () => {
  const lines: string[] = [];
  const report = new Report((line) => lines.push(line));
  report.check('pages', undefined);
  report.check('pages', 'not equal');
  expect(report).toMatchObject({ counts: { 'checks: pages': 2 }, violations: ['pages: not equal'] });
  expect(lines).toEqual(['violated: pages: not equal']);
  expect(report.stopped.aborted).toBe(false);
  for (let count = 0; count < 9; count++) report.violation('again');
  expect(report.stopped.aborted).toBe(true);
});
