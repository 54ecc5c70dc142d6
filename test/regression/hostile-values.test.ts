/** Values of programs in this process that are made to be expensive. */
import { ConfigMap } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { createClient, createCluster } from '../../src/index.js';
import { copyUnvalidated } from '../../src/util/json.js';
import { cpuTimer } from '../fixtures/cpu-time.js';

function cpuTime(run: () => unknown): number {
  const spentMs = cpuTimer();
  run();
  return spentMs();
}

describe('an object with shared references', () => {
  /** As a tree, it has 2^30 leaves. */
  const shared = () => {
    let value: object = { x: '1' };
    for (let at = 0; at < 30; at++) value = { a: value, b: value };
    return value;
  };

  test.each([
    ['data', 'data'],
    ['an unknown field', 'unknown'],
  ])('as %s is handled with a middleware as without one', async (_what, field) => {
    for (const isUsed of [false, true]) {
      await using cluster = createCluster();
      if (isUsed) cluster.use((request, next) => next(request));
      const object = { metadata: { name: 'a' }, [field]: shared() };
      const created = cluster.api(ConfigMap).create(object);
      await (field === 'data' ? expect(created).rejects.toMatchObject({ code: 400 }) : created);
    }
  });

  test('is copied once', () => {
    const cyclic: { self?: unknown; list: unknown[] } = { list: [] };
    cyclic.self = cyclic;
    cyclic.list.push(cyclic.list, new Date(0));
    const copy = copyUnvalidated(cyclic) as typeof cyclic;
    expect(copy).not.toBe(cyclic);
    expect(copy.self).toBe(copy);
    expect(copy.list[0]).toBe(copy.list);
    expect(copy.list[1]).toBe(cyclic.list[1]);
  });
});

test('no similar name is looked for if the name of a kind is long', () => {
  const cluster = createCluster();
  expect(cpuTime(() => expect(() => cluster.kind('v1', 'x'.repeat(1_000_000))).toThrow('serves no x'))).toBeLessThan(
    500,
  );
});

test('the past of a version that is a sparse list is refused without printing it', () => {
  const cluster = createCluster();
  const list: unknown[] = [];
  list.length = 2 ** 32 - 2;
  expect(cpuTime(() => expect(() => cluster.at(list as unknown as string)).toThrow('got object'))).toBeLessThan(500);
});

test('an informer continues after an onError that throws', async () => {
  await using cluster = createCluster();
  const printed: unknown[] = [];
  const { error } = console;
  console.error = (...values) => printed.push(values.at(-1));
  try {
    const informer = createClient({ transport: cluster as never })
      .api(ConfigMap)
      .informer({
        onError: () => {
          throw new Error('thrown by onError');
        },
      });
    await informer.synced;
    const seen: string[] = [];
    informer.subscribe(({ object }) => {
      seen.push(object.metadata.name);
      throw new Error('thrown by a listener');
    });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
    await expect.poll(() => seen).toEqual(['a', 'b']);
    await informer.close();
  } finally {
    console.error = error;
  }
  expect(printed).toMatchObject([{ message: 'thrown by onError' }, { message: 'thrown by onError' }]);
});

test.each([
  ['a sparse list', () => Object.assign([], { length: 2 ** 32 - 1 })],
  ['a Proxy', () => new Proxy([], { get: (target, key) => (key === 'length' ? 2 ** 31 : Reflect.get(target, key)) })],
])('%s with a huge length is refused before it is copied', async (_name, list) => {
  const configMap = { metadata: { name: 'a', finalizers: list() } };
  await expect(createCluster().api(ConfigMap).create(configMap)).rejects.toThrow(/has the length \d+ and fewer items/);
});
