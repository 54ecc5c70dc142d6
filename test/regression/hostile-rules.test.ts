/**
 * Validation rules of CRDs, and objects that make them expensive. The rules are ordinary and within the estimated cost; users who
 * may only create objects choose the values. Limits are of CPU time, and many times the usual time.
 */
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../fixtures/cpu-time.js';
import { COLLECTION, define, GROUP, http, object, version } from '../unit/crd/widgets.js';

type Json = Record<string, unknown>;

const INTEGER = { type: 'integer' };
const list = (items: Json, maxItems: number, more: Json = {}) => ({ type: 'array', items, maxItems, ...more });
const map = (values: Json, maxProperties?: number) => ({
  type: 'object',
  additionalProperties: values,
  ...(maxProperties === undefined ? {} : { maxProperties }),
});
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const record = (names: readonly unknown[]) => Object.fromEntries(names.map((name) => [`k${name}`, 1]));

interface Case {
  readonly rule: string;
  readonly properties: Json;
  readonly spec: Json;
}

async function create({ rule, properties, spec }: Case) {
  const cluster = testCluster();
  const rules = { 'x-orch-validations': [{ rule }] };
  await define(cluster, { versions: [version({ spec: object(properties, rules) })] });
  const body = { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec };
  const send = http(cluster);
  const spentMs = cpuTimer();
  const { code, body: answer } = await send(`POST ${COLLECTION}`, { body });
  return { code, message: answer.message, milliseconds: spentMs() };
}

const UNIQUE_ROWS = 'self.rows.all(a, self.rows.exists_one(b, a == b))';
const row = (last: number) => [...Array<number>(2400).fill(7), last];
const rows = (items: Json) => ({ rows: list(items, 100) });

const CASES: readonly (Case & { readonly name: string; readonly code: number })[] = [
  {
    name: 'the size of a map of 50,000 keys for each key',
    rule: 'self.m.all(k, size(self.m) < 1000000)',
    properties: { m: map(INTEGER) },
    spec: { m: record(numbers(50_000)) },
    code: 201,
  },
  {
    name: 'equal maps of 5,000 keys',
    rule: 'self.m.all(k, self.m == self.m)',
    properties: { m: map(INTEGER, 5000) },
    spec: { m: record(numbers(5000)) },
    code: 422,
  },
  {
    name: 'a list that grows for each item',
    rule: 'self.l.all(k, size(self.l + [k]) > 1)',
    properties: { l: list(INTEGER, 100_000) },
    spec: { l: numbers(100_000) },
    code: 422,
  },
  {
    name: 'a set that grows for each item',
    rule: 'self.l.all(k, size(self.l + [k]) > 1)',
    properties: { l: list(INTEGER, 100_000, { 'x-orch-list-type': 'set' }) },
    spec: { l: numbers(100_000) },
    code: 422,
  },
  {
    name: 'equal lists of 3,000 items with keys',
    rule: 'self.l.all(k, self.l == self.l)',
    properties: {
      l: list(object({ a: INTEGER }, { required: ['a'] }), 3000, {
        'x-orch-list-type': 'map',
        'x-orch-list-map-keys': ['a'],
      }),
    },
    spec: { l: numbers(3000).map((a) => ({ a })) },
    code: 422,
  },
  {
    name: 'long lists that differ in their last item',
    rule: UNIQUE_ROWS,
    properties: rows(object({ v: list(INTEGER, 2500) })),
    spec: { rows: numbers(100).map((index) => ({ v: row(index) })) },
    code: 422,
  },
  {
    name: 'long sets that differ in one item',
    rule: UNIQUE_ROWS,
    properties: rows(list(INTEGER, 2500, { 'x-orch-list-type': 'set' })),
    spec: { rows: numbers(100).map((index) => [...numbers(2400), index + 5000]) },
    code: 422,
  },
  {
    name: 'maps of many keys that differ in one of them',
    rule: UNIQUE_ROWS,
    properties: rows(map(INTEGER, 2500)),
    spec: { rows: numbers(100).map((index) => record([...numbers(2400), index + 5000])) },
    code: 422,
  },
  {
    name: 'unknown fields with long lists',
    rule: UNIQUE_ROWS,
    properties: rows({ type: 'object', 'x-orch-preserve-unknown-fields': true }),
    spec: { rows: numbers(100).map((index) => ({ u: row(index) })) },
    code: 422,
  },
  {
    name: 'a time with a million decimals for each item',
    rule: 'self.l.all(k, self.t == self.t)',
    properties: { l: list(INTEGER, 100_000), t: { type: 'string', format: 'date-time' } },
    spec: { l: numbers(100_000), t: `2020-01-01T00:00:00.${'1'.repeat(1_000_000)}Z` },
    code: 422,
  },
];

describe('a rule that is evaluated on', () => {
  test.each(CASES)('$name ends soon', { timeout: 60_000 }, async ({ code, ...rest }) => {
    const answer = await create(rest);
    expect(answer.milliseconds).toBeLessThan(5000);
    if (code !== 201) expect(answer.message).toContain('actual cost limit exceeded');
    expect(answer.code).toBe(code);
  });

  test('rows of ordinary size compares all of them', async () => {
    const answer = await create({
      rule: UNIQUE_ROWS,
      properties: rows(object({ v: list(INTEGER, 2500) })),
      spec: { rows: numbers(100).map((index) => ({ v: [...numbers(50), index] })) },
    });
    expect(answer.code).toBe(201);
  });
});
