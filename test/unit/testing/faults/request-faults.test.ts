/** Request faults for all kinds of clients. */
import { errors, StatusError } from 'orchplane';
import { ConfigMap, Pod } from 'orchplane/kinds';
import { conflicting, delaying, droppingResponses, failing, flaky, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { clientsOf, original, reasonOf, withCopier } from './clients.js';

describe.each(['local', 'http'] as const)('request faults for a %s client', (place) => {
  function setup() {
    const cluster = testCluster();
    return { cluster, configMaps: clientsOf(cluster)[place].api(ConfigMap) };
  }

  test('rejects matching requests with the given error, the given number of times', async () => {
    const { cluster, configMaps } = setup();
    const fault = failing({ verb: 'create', kind: ConfigMap, times: 2 }, () => errors.tooManyRequests('later', 3));
    using _fault = cluster.use(fault);
    expect(await reasonOf(configMaps.create({ metadata: { name: 'a' } }))).toBe('TooManyRequests');
    expect(await reasonOf(configMaps.list())).toBeUndefined();
    expect(await reasonOf(configMaps.create({ metadata: { name: 'a' } }))).toBe('TooManyRequests');
    expect(await reasonOf(configMaps.create({ metadata: { name: 'a' } }))).toBeUndefined();
    expect(fault.count).toBe(2);
  });

  test('removes a fault at the end of its block', async () => {
    const { cluster, configMaps } = setup();
    {
      using _fault = cluster.use(failing({}));
      expect(await reasonOf(configMaps.list())).toBe('InternalError');
    }
    expect(await reasonOf(configMaps.list())).toBeUndefined();
  });

  test('returns the conflict of the server, which edit retries', async () => {
    const { cluster, configMaps } = setup();
    const made = await configMaps.create({ metadata: { name: 'a' } });
    const fault = conflicting({ kind: ConfigMap, times: 2 });
    using _fault = cluster.use(fault);
    await expect(configMaps.update({ ...made, data: { size: 's' } })).rejects.toThrow(
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    );
    const edited = await configMaps.edit('a', (draft) => {
      draft.data = { size: 'm' };
    });
    expect(edited.data).toEqual({ size: 'm' });
    expect(fault.count).toBe(2);
  });

  test('delays requests on the cluster clock', async () => {
    const { cluster, configMaps } = setup();
    const fault = delaying({ verb: 'list' }, 2_000);
    using _fault = cluster.use(fault);
    let isAnswered = false;
    const listing = configMaps.list().then(() => {
      isAnswered = true;
    });
    await cluster.clock.advance(1_999);
    expect(isAnswered).toBe(false);
    await cluster.clock.advance(1);
    await listing;
    expect(fault.count).toBe(1);
    expect(cluster.clock.pending).toBe(0);
  });

  test('continues delayed requests when the fault is removed', async () => {
    const { cluster, configMaps } = setup();
    const remove = cluster.use(delaying({}, (request) => (request.verb === 'list' ? 60_000 : 0)));
    const listing = configMaps.list();
    // The request must be delayed before the fault is removed.
    await cluster.clock.advance(0);
    remove();
    expect((await listing).items.map(({ metadata }) => metadata.name)).toEqual([]);
    expect(cluster.clock.pending).toBe(0);
  });

  test('commits a write and drops its response', async () => {
    const { cluster, configMaps } = setup();
    const fault = droppingResponses({ verb: 'create', nth: 1 });
    using _fault = cluster.use(fault);
    expect(await reasonOf(configMaps.create({ metadata: { name: 'a' } }))).toBe('Timeout');
    expect(await reasonOf(configMaps.create({ metadata: { name: 'a' } }))).toBe('AlreadyExists');
    expect(fault.count).toBe(1);
  });

  test('does not drop rejections of the server', async () => {
    const { cluster, configMaps } = setup();
    await configMaps.create({ metadata: { name: 'a' } });
    const fault = droppingResponses();
    using _fault = cluster.use(fault);
    expect(await reasonOf(configMaps.create({ metadata: { name: 'a' } }))).toBe('AlreadyExists');
    expect(fault.count).toBe(0);
  });

  test('fails the same requests for the same seed', async () => {
    const outcomesOf = async (seed: number) => {
      const { cluster, configMaps } = setup();
      using _fault = cluster.use(flaky({ rate: 0.5, seed }));
      const outcomes: boolean[] = [];
      for (let round = 0; round < 40; round++) outcomes.push((await reasonOf(configMaps.list())) === undefined);
      return outcomes;
    };
    expect(await outcomesOf(1)).toEqual(await outcomesOf(1));
    expect(await outcomesOf(1)).not.toEqual(await outcomesOf(2));
    const passed = (await outcomesOf(3)).filter(Boolean).length;
    expect(passed).toBeGreaterThan(8);
    expect(passed).toBeLessThan(32);
  });
});

describe('request faults for a controller', () => {
  test('makes a controller retry after failures', async () => {
    const { cluster, failures } = await withCopier();
    const fault = failing({ verb: 'create', source: 'copier', times: 2 });
    using _fault = cluster.use(fault);
    await cluster.api(ConfigMap).create(original);
    await cluster.clock.advance(10_000);
    expect(failures).toEqual(['InternalError', 'InternalError']);
    expect((await cluster.api(ConfigMap).get('a-copy')).data).toEqual({ size: 'm' });
    expect(fault.count).toBe(2);
    await cluster.close();
  });

  test('makes a controller retry at once after conflicts', async () => {
    const { cluster, failures } = await withCopier();
    await cluster.api(ConfigMap).create(original);
    await cluster.settle();
    const fault = conflicting({ source: 'copier', times: 3 });
    using _fault = cluster.use(fault);
    await cluster.api(ConfigMap).edit('a', (draft) => {
      draft.data = { size: 'l' };
    });
    await cluster.settle();
    expect((await cluster.api(ConfigMap).get('a-copy')).data).toEqual({ size: 'l' });
    expect(fault.count).toBe(3);
    expect(failures).toEqual([]);
    await cluster.close();
  });

  test('settle returns while a write is delayed, and the write continues with the clock', async () => {
    const { cluster } = await withCopier();
    const fault = delaying({ verb: 'create', source: 'copier' }, 5_000);
    using _fault = cluster.use(fault);
    await cluster.api(ConfigMap).create(original);
    await cluster.settle({ timeoutMs: 3_000 });
    expect(fault.count).toBe(1);
    expect(await cluster.api(ConfigMap).find('a-copy')).toBeUndefined();
    await cluster.clock.advance(5_000);
    expect(await cluster.api(ConfigMap).find('a-copy')).toBeDefined();
    await cluster.close();
  });

  test('makes a controller find its own write after a dropped response', async () => {
    const { cluster, failures } = await withCopier();
    const fault = droppingResponses({ verb: 'create', source: 'copier', times: 1 });
    using _fault = cluster.use(fault);
    await cluster.api(ConfigMap).create(original);
    await cluster.clock.advance(10_000);
    expect(failures).toEqual(['Timeout']);
    expect((await cluster.api(ConfigMap).list()).items).toHaveLength(2);
    await cluster.close();
  });

  test('does not stop a controller permanently with random failures', async () => {
    const { cluster } = await withCopier();
    const fault = flaky({ verb: ['get', 'create'], source: 'copier', rate: 0.7, seed: 2 });
    using _fault = cluster.use(fault);
    await cluster.api(ConfigMap).create(original);
    await cluster.clock.advance(120_000);
    expect(fault.count).toBeGreaterThan(0);
    expect(await cluster.api(ConfigMap).find('a-copy')).toBeDefined();
    await cluster.close();
  });
});

describe('fault matches', () => {
  async function failedRequests(match: Parameters<typeof failing>[0]): Promise<string[]> {
    const cluster = testCluster();
    const teamed = cluster.with({ namespace: 'kube-system', fieldManager: 'ci' });
    const alice = cluster.with({ as: { user: 'alice', groups: ['system:masters'] } });
    using _fault = cluster.use(failing(match));
    const calls: [string, () => Promise<unknown>][] = [
      ['create a', () => cluster.api(ConfigMap).create({ metadata: { name: 'a' } })],
      ['create b as ci', () => teamed.api(ConfigMap).create({ metadata: { name: 'b' } })],
      ['list by alice', () => alice.api(ConfigMap).list()],
      ['get pod', () => cluster.api(Pod).find('web')],
      ['get pod status', () => cluster.api(Pod).subresource('status').get('web').catch(unlessInternal)],
      ['create c', () => cluster.api(ConfigMap).create({ metadata: { name: 'c' } })],
    ];
    const found: string[] = [];
    for (const [name, call] of calls) if ((await reasonOf(call())) === 'InternalError') found.push(name);
    return found;
  }
  const unlessInternal = (error: unknown) => {
    if (StatusError.is(error, 'InternalError')) throw error;
  };

  test.each([
    [{ verb: 'create' }, ['create a', 'create b as ci', 'create c']],
    [{ verb: 'write', nth: 2 }, ['create b as ci']],
    [{ verb: 'write', nth: [1, 3] }, ['create a', 'create c']],
    [{ verb: 'write', every: 2 }, ['create b as ci']],
    [{ verb: 'read' }, ['list by alice', 'get pod', 'get pod status']],
    [{ kind: Pod }, ['get pod', 'get pod status']],
    [{ kind: Pod, subresource: '' }, ['get pod']],
    [{ subresource: 'status' }, ['get pod status']],
    [{ kind: [Pod, ConfigMap], times: 1 }, ['create a']],
    [{ name: 'a' }, ['create a']],
    [{ name: /^[bc]$/g }, ['create b as ci', 'create c']],
    [{ namespace: 'kube-system' }, ['create b as ci']],
    [{ user: 'alice' }, ['list by alice']],
    [{ user: 'system:admin', verb: 'write', manager: 'ci' }, ['create b as ci']],
    [{ when: (request: { name?: string | undefined }) => request.name === 'web' }, ['get pod', 'get pod status']],
    [{ rate: 0 }, []],
    [{ source: 'http' }, []],
    [{ source: 'local', times: 1 }, ['create a']],
  ] satisfies [Parameters<typeof failing>[0], string[]][])(
    'selects matching requests (%#)',
    async (match, expected) => {
      expect(await failedRequests(match)).toEqual(expected);
    },
  );

  // Values that a JavaScript program may pass.
  const wrong: readonly [unknown, string][] = [
    [{ verbs: 'create' }, 'failing has no option "verbs"; it has verb, kind, subresource'],
    [{ verb: 'put' }, 'failing: there is no verb "put"; there are get, list, watch, create'],
    [{ kind: 'Pod' }, 'failing: kind is a kind such as Pod of orchplane/kinds, or several, not "Pod"'],
    [{ name: 7 }, 'failing: name is a text or a regular expression, not 7'],
    [{ when: true }, 'failing: when is a function, not true'],
    [{ nth: 0 }, 'failing: nth is a whole number from 1 on, or several, not 0'],
    [{ nth: 1, times: 2 }, 'failing: nth names single requests, so it goes with none of times, every and rate'],
    [{ times: 1.5 }, 'failing: times is a whole number from 1 on, not 1.5'],
    [{ every: -1 }, 'failing: every is a whole number from 1 on, not -1'],
    [{ rate: 2 }, 'failing: rate is a number from 0 to 1, not 2'],
    [{ seed: 2 }, 'failing: seed goes with rate'],
    ['create', 'failing: takes an object that says which requests are meant, not "create"'],
  ];
  test.each(wrong)('rejects an invalid match (%#)', (match, message) => {
    expect(() => failing(match as object)).toThrow(
      new RegExp(`^orchplane: ${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`),
    );
  });

  test('rejects an invalid delay and an invalid error', () => {
    expect(() => delaying({}, -1)).toThrow('delaying: the delay is a number of milliseconds from 0 on, not -1');
    expect(() => failing({}, 'Conflict' as never)).toThrow('failing: the error is a StatusError');
  });
});
