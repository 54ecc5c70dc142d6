/** The checker accepts linearizable histories and rejects the others. */
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { checkHistory, checkObject, type Operation } from './checker.js';

type Details = Partial<Pick<Operation, 'value' | 'expected' | 'result' | 'key'>>;

const at = (call: number, end: number, kind: Operation['kind'], details: Details = {}): Operation => ({
  key: 'a',
  kind,
  result: 'ok',
  call,
  return: details.result === 'unknown' ? Number.POSITIVE_INFINITY : end,
  ...details,
});
const created = at(0, 1, 'create', { value: 'v1' });

describe('linearizable', () => {
  const histories: Record<string, readonly Operation[]> = {
    'no operation': [],
    'one after the other': [
      at(0, 1, 'read', { result: 'missing' }),
      at(2, 3, 'create', { value: 'v1' }),
      at(4, 5, 'read', { value: 'v1' }),
      at(6, 7, 'replace', { value: 'v2', expected: 'v1' }),
      at(8, 9, 'create', { value: 'v3', result: 'exists' }),
      at(10, 11, 'replace', { value: 'v4', expected: 'v1', result: 'conflict' }),
      at(12, 13, 'delete', { expected: 'v2' }),
      at(14, 15, 'delete', { result: 'missing' }),
    ],
    'concurrent reads of the old and the new value': [
      created,
      at(2, 9, 'replace', { value: 'v2' }),
      at(3, 4, 'read', { value: 'v1' }),
      at(5, 6, 'read', { value: 'v2' }),
    ],
    'an unknown write that is read much later': [
      created,
      at(2, 3, 'replace', { value: 'v2', result: 'unknown' }),
      at(4, 5, 'read', { value: 'v1' }),
      at(100, 101, 'read', { value: 'v2' }),
    ],
    'an unknown write that is never read': [
      created,
      at(2, 3, 'replace', { value: 'v2', result: 'unknown' }),
      at(4, 5, 'read', { value: 'v1' }),
    ],
    'an unknown write that explains a conflict and was overwritten': [
      created,
      at(2, 3, 'replace', { value: 'v2', result: 'unknown' }),
      at(4, 5, 'replace', { value: 'v3', expected: 'v1', result: 'conflict' }),
      at(6, 7, 'replace', { value: 'v4' }),
      at(8, 9, 'read', { value: 'v4' }),
    ],
    'an unknown delete between two creations': [
      created,
      at(2, 3, 'delete', { result: 'unknown' }),
      at(4, 5, 'create', { value: 'v2' }),
    ],
  };
  test.each(Object.entries(histories))('%s', (_, history) => {
    expect(checkObject(history)).toBeUndefined();
  });

  test('many unknown writes of which few were read', () => {
    const unknown = Array.from({ length: 60 }, (_, index) =>
      at(2 + index, 0, index % 2 === 0 ? 'replace' : 'delete', {
        ...(index % 2 === 0 ? { value: `u${index}` } : {}),
        result: 'unknown',
      }),
    );
    const reads = [0, 8, 30].map((index) => at(200 + index, 201 + index, 'read', { value: `u${index}` }));
    const history = [created, ...unknown, ...reads, at(300, 301, 'read', { result: 'missing' })];
    expect(checkObject(history)).toBeUndefined();
  });
});

describe('not linearizable', () => {
  const histories: Record<string, readonly Operation[]> = {
    'a lost update': [
      created,
      at(2, 5, 'replace', { value: 'v2', expected: 'v1' }),
      at(3, 6, 'replace', { value: 'v3', expected: 'v1' }),
    ],
    'a stale read after an acknowledged write': [
      created,
      at(2, 3, 'replace', { value: 'v2' }),
      at(4, 5, 'read', { value: 'v1' }),
    ],
    'a resurrected delete': [created, at(2, 3, 'delete'), at(4, 5, 'read', { value: 'v1' })],
    'a lost acknowledged create': [created, at(2, 3, 'read', { result: 'missing' })],
    'two acknowledged creations': [created, at(2, 3, 'create', { value: 'v2' })],
    'two acknowledged deletions': [created, at(2, 5, 'delete'), at(3, 6, 'delete')],
    'a conflict without another write': [
      created,
      at(2, 3, 'replace', { value: 'v2', expected: 'v1', result: 'conflict' }),
    ],
    'reads that go back': [
      created,
      at(2, 9, 'replace', { value: 'v2' }),
      at(3, 4, 'read', { value: 'v2' }),
      at(5, 6, 'read', { value: 'v1' }),
    ],
    'an unknown write that takes effect twice': [
      created,
      at(2, 3, 'replace', { value: 'v2', result: 'unknown' }),
      at(4, 5, 'read', { value: 'v2' }),
      at(6, 7, 'replace', { value: 'v3' }),
      at(8, 9, 'read', { value: 'v2' }),
    ],
    'an unknown conditional write after its condition has ended': [
      created,
      at(2, 3, 'replace', { value: 'v2' }),
      at(4, 5, 'replace', { value: 'v3', expected: 'v1', result: 'unknown' }),
      at(6, 7, 'read', { value: 'v3' }),
    ],
    'a value before it is written': [created, at(2, 3, 'read', { value: 'v2' }), at(4, 5, 'replace', { value: 'v2' })],
  };
  test.each(Object.entries(histories))('%s', (_, history) => {
    expect(checkObject(history)).toMatch('a: not linearizable');
  });

  test('the description leaves out what is not needed', () => {
    const reads = Array.from({ length: 50 }, (_, index) => at(10 + index, 11 + index, 'read', { value: 'v1' }));
    const stale = [...reads, at(70, 71, 'replace', { value: 'v2' }), at(72, 73, 'read', { value: 'v1' })];
    const problem = checkHistory([created, ...stale, { ...created, key: 'b' }]);
    expect(problem).toHaveLength(1);
    expect(problem[0]?.split('\n').slice(1)).toEqual([
      '  blocked: 72.0..73.0 read v1 -> ok',
      '  0.0..1.0 create v1 -> ok',
      '  70.0..71.0 replace v2 -> ok',
      '  72.0..73.0 read v1 -> ok',
    ]);
  });
});

/** Executes random operations on one object, each at a random time between its call and its return. */
function randomHistory(seed: number): Operation[] {
  const random = seededRandom(seed);
  const planned = Array.from({ length: 120 }, (_, index) => {
    const call = random.below(400) + index / 1_000;
    const effect = call + 0.1 + random.below(20);
    return { call, effect, end: effect + 0.1 + random.below(20), index };
  }).sort((one, other) => one.effect - other.effect);
  let state: string | undefined;
  const values = ['none'];
  return planned.map(({ call, end, index }) => {
    const kind = (['read', 'read', 'create', 'replace', 'replace', 'delete'] as const)[random.below(6)] ?? 'read';
    if (kind === 'read') return at(call, end, kind, state === undefined ? { result: 'missing' } : { value: state });
    const value = kind === 'delete' ? {} : { value: `v${index}` };
    const expected = kind !== 'create' && random.below(2) === 0 ? { expected: values.at(-1 - random.below(2)) } : {};
    const isUnknown = random.below(8) === 0;
    const lost = isUnknown && random.below(2) === 0;
    let result: Operation['result'] = 'ok';
    if (kind === 'create') result = state === undefined ? 'ok' : 'exists';
    else if (state === undefined) result = 'missing';
    else if ('expected' in expected && expected.expected !== state) result = 'conflict';
    if (result === 'ok' && !lost) {
      state = value.value;
      if (state !== undefined) values.push(state);
    }
    return at(call, end, kind, { ...value, ...expected, result: isUnknown ? 'unknown' : result });
  });
}

test('accepts the histories of a correct object, and rejects them with a read that is older than its predecessor', () => {
  let rejected = 0;
  for (let seed = 1; seed <= 30; seed++) {
    const history = randomHistory(seed);
    expect(checkObject(history), `seed ${seed}`).toBeUndefined();
    const written = history.filter(({ kind, result }) => kind === 'replace' && result === 'ok');
    const [old, later] = [written[0], written.at(-1)];
    if (old === undefined || later === undefined || old === later) continue;
    rejected++;
    const stale = at(1_000, 1_001, 'read', { value: old.value });
    expect(checkObject([...history, stale]), `seed ${seed}`).toMatch('not linearizable');
  }
  expect(rejected).toBeGreaterThan(20);
});
