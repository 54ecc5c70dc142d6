/** Reads at a resourceVersion: current, past, compacted and future. */
import { memoryStorage, type StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf, stateOf } from './watch-reader.js';

const FIVE_MINUTES = 5 * 60_000;

/** A cluster with ConfigMaps of these names, whose resourceVersions start at 5. */
async function clusterWith(names: readonly string[], storage = memoryStorage()): Promise<TestCluster> {
  const cluster = testCluster({ storage });
  for (const name of names) await cluster.api(ConfigMap).create({ metadata: { name } });
  return cluster;
}

const namesOf = (list: { items: readonly { metadata: { name: string } }[] }) =>
  list.items.map(({ metadata }) => metadata.name);

describe('a get at a resourceVersion', () => {
  test('returns the most recent object for a get at an existing resourceVersion or 0', async () => {
    const cluster = await clusterWith(['a']);
    const configMaps = cluster.api(ConfigMap);
    const present = await configMaps.get('a');
    expect(await configMaps.get('a', { resourceVersion: '0' })).toBe(present);
    expect(await configMaps.get('a', { resourceVersion: '1' })).toBe(present);
    expect(await configMaps.get('a', { resourceVersion: '5' })).toBe(present);
  });

  test('times out a get at a future resourceVersion after three seconds', async () => {
    const cluster = await clusterWith(['a']);
    const failure = failureOf(cluster.api(ConfigMap).get('a', { resourceVersion: '9' }));
    await cluster.clock.advance(2_999);
    expect(await stateOf(failure)).toBe('waiting');
    await cluster.clock.advance(1);
    expect(await failure).toMatchObject({
      code: 504,
      status: {
        reason: 'Timeout',
        message: 'Timeout: Too large resource version: 9, current: 5',
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      },
    });
    expect(cluster.clock.pending).toBe(0);
  });

  test('does not wait for a future resourceVersion in a limited list of one name', async () => {
    const cluster = await clusterWith(['a']);
    const list = cluster.api(ConfigMap).list({ fields: { 'metadata.name': 'a' }, limit: 1, resourceVersion: '9' });
    const { status } = (await failureOf(list)) as StatusError;
    expect(status.message).toBe('Timeout: Too large resource version: 9, current: 5');
    expect(status.details).toEqual({
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    });
  });

  test('answers a get at a future resourceVersion when it is reached, with the state at that time', async () => {
    const cluster = await clusterWith(['a']);
    const configMaps = cluster.api(ConfigMap);
    const found = configMaps.get('b', { resourceVersion: '7' });
    await configMaps.create({ metadata: { name: 'b' } });
    expect(await stateOf(found)).toBe('waiting');
    await configMaps.create({ metadata: { name: 'c' } });
    expect((await found).metadata.name).toBe('b');
    expect(cluster.clock.pending).toBe(0);
  });

  test('responds with NotFound to a get at a future resourceVersion if the object does not exist then', async () => {
    const cluster = await clusterWith([]);
    const failure = failureOf(cluster.api(ConfigMap).get('a', { resourceVersion: '5' }));
    await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
    expect(await failure).toMatchObject({ reason: 'NotFound' });
  });

  test('rejects a get at a future resourceVersion with the reason of an abort', async () => {
    const cluster = await clusterWith(['a']);
    const stop = new AbortController();
    const failure = failureOf(cluster.api(ConfigMap).get('a', { resourceVersion: '9', signal: stop.signal }));
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await failure).toBe(reason);
    expect(cluster.clock.pending).toBe(0);
  });

  test('responds with a plain 500 to a get at an invalid resourceVersion', async () => {
    const error = await failureOf((await clusterWith(['a'])).api(ConfigMap).get('a', { resourceVersion: '-1' }));
    expect(error).toMatchObject({
      code: 500,
      reason: undefined,
      message: 'resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
    });
  });

  test('responds with a plain 500 to a get at a resourceVersion that exceeds 64 bits', async () => {
    const error = await failureOf(
      (await clusterWith(['a'])).api(ConfigMap).get('a', { resourceVersion: '18446744073709551616' }),
    );
    expect(error).toMatchObject({ code: 500, message: expect.stringContaining('value out of range') });
  });
});

describe('a list', () => {
  test('returns the current state for a list not older than a past revision', async () => {
    const cluster = await clusterWith(['a', 'b']);
    const list = await cluster.api(ConfigMap).list({ resourceVersion: '5' });
    expect(namesOf(list)).toEqual(['a', 'b']);
    expect(list.metadata.resourceVersion).toBe('6');
  });

  test('waits in a list not older than a future revision, and returns the state at that revision', async () => {
    const cluster = await clusterWith(['a']);
    const list = cluster.api(ConfigMap).list({ resourceVersion: '6', resourceVersionMatch: 'NotOlderThan' });
    expect(await stateOf(list)).toBe('waiting');
    await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
    expect(namesOf(await list)).toEqual(['a', 'b']);
  });

  test('times out a list not older than an unreached revision after three seconds', async () => {
    const cluster = await clusterWith(['a']);
    const failure = failureOf(cluster.api(ConfigMap).list({ resourceVersion: '6' }));
    await cluster.clock.advance(3_000);
    expect(await failure).toMatchObject({ code: 504, reason: 'Timeout' });
  });

  test('responds with a plain 500 to a list at exactly a future revision', async () => {
    const cluster = await clusterWith(['a']);
    const exact = { resourceVersion: '99', resourceVersionMatch: 'Exact' } as const;
    expect(await failureOf(cluster.api(ConfigMap).list(exact))).toMatchObject({
      code: 500,
      reason: undefined,
      message: 'etcdserver: mvcc: required revision is a future revision',
    });
  });

  test('responds with Expired to a list at exactly a compacted revision', async () => {
    const cluster = await clusterWith(['a', 'b', 'c', 'd'], memoryStorage({ history: 2 }));
    const at = (resourceVersion: string) =>
      cluster.api(ConfigMap).list({ resourceVersion, resourceVersionMatch: 'Exact' });
    expect(await failureOf(at('5'))).toMatchObject({
      code: 410,
      reason: 'Expired',
      message: 'The resourceVersion for the provided list is too old.',
    });
    expect(namesOf(await at('6'))).toEqual(['a', 'b']);
  });

  test('responds with Expired to a list at a compacted revision also if its selectors exclude every object', async () => {
    const cluster = await clusterWith(['a', 'b', 'c', 'd'], memoryStorage({ history: 2 }));
    const exact = { resourceVersion: '5', resourceVersionMatch: 'Exact' } as const;
    const list = cluster.api(ConfigMap).list({ ...exact, fields: 'metadata.namespace=elsewhere' });
    expect(await failureOf(list)).toMatchObject({ reason: 'Expired' });
  });

  test('responds with Expired to a list at a revision after five minutes if there were later writes', async () => {
    const cluster = await clusterWith(['a', 'b']);
    const exact = { resourceVersion: '5', resourceVersionMatch: 'Exact' } as const;
    await cluster.clock.advance(FIVE_MINUTES);
    expect(namesOf(await cluster.api(ConfigMap).list(exact))).toEqual(['a']);
    await cluster.clock.advance(1);
    expect(await failureOf(cluster.api(ConfigMap).list(exact))).toMatchObject({ reason: 'Expired' });
  });

  test('ignores the limit of a list at resourceVersion 0', async () => {
    const cluster = await clusterWith(['a', 'b']);
    expect(namesOf(await cluster.api(ConfigMap).list({ resourceVersion: '0', limit: 1 }))).toEqual(['a', 'b']);
  });

  test('reads exactly the given revision in a list with a limit and a resourceVersion', async () => {
    const cluster = await clusterWith(['a', 'b', 'c']);
    const first = await cluster.api(ConfigMap).list({ resourceVersion: '6', limit: 1 });
    expect(first.metadata).toMatchObject({ resourceVersion: '6', remainingItemCount: 1 });
  });

  test.each([0, -1])('returns an unlimited list for limit %d', async (limit) => {
    const cluster = await clusterWith(['a', 'b']);
    const list = await cluster.api(ConfigMap).list({ limit });
    expect(namesOf(list)).toEqual(['a', 'b']);
    expect(list.metadata).toEqual({ resourceVersion: '6' });
  });

  test('returns items and a resourceVersion for a list without objects', async () => {
    const cluster = await clusterWith([]);
    expect(await cluster.api(ConfigMap).list()).toEqual({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '4' },
      items: [],
    });
  });

  test('returns an empty list for an unsatisfiable selector', async () => {
    const cluster = await clusterWith(['a']);
    const list = await cluster.api(ConfigMap).list({ fields: 'metadata.name=a,metadata.name=b' });
    expect(list.items).toEqual([]);
    expect((await cluster.api(ConfigMap).list({ fields: 'metadata.name=' })).items).toEqual([]);
  });
});

describe('a continue token', () => {
  const TOO_OLD =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

  async function firstPage(cluster: TestCluster): Promise<string> {
    return (await cluster.api(ConfigMap).list({ limit: 1 })).metadata.continue ?? '';
  }

  test('accepts a continue token for five minutes, regardless of writes', async () => {
    const cluster = await clusterWith(['a', 'b', 'c'], memoryStorage({ history: 1 }));
    const token = await firstPage(cluster);
    for (const name of ['b', 'c']) await cluster.api(ConfigMap).delete(name);
    await cluster.clock.advance(FIVE_MINUTES);
    const rest = await cluster.api(ConfigMap).list({ continue: token });
    expect(namesOf(rest)).toEqual(['b', 'c']);
    expect(rest.metadata.resourceVersion).toBe('7');
  });

  test('responds with Expired to an old continue token, with a new token for an inconsistent continuation', async () => {
    const cluster = await clusterWith(['a', 'b', 'c', 'd']);
    const configMaps = cluster.api(ConfigMap);
    const token = await firstPage(cluster);
    await configMaps.delete('b');
    await cluster.clock.advance(FIVE_MINUTES + 1);
    const error = await failureOf(configMaps.list({ continue: token }));
    expect(error).toMatchObject({ code: 410, reason: 'Expired', message: TOO_OLD });
    const inconsistent = (error as { status: { metadata: { continue?: string } } }).status.metadata.continue ?? '';
    await configMaps.create({ metadata: { name: 'bb' } });
    const next = await configMaps.list({ continue: inconsistent, limit: 2 });
    expect(namesOf(next)).toEqual(['bb', 'c']);
    expect(next.metadata).toMatchObject({ resourceVersion: cluster.resourceVersion, remainingItemCount: 1 });
    await cluster.clock.advance(2 * FIVE_MINUTES);
    expect(namesOf(await configMaps.list({ continue: next.metadata.continue ?? '' }))).toEqual(['d']);
  });

  test('expires the continue token of a later page with the first page', async () => {
    const cluster = await clusterWith(['a', 'b', 'c']);
    const token = await firstPage(cluster);
    await cluster.clock.advance(FIVE_MINUTES - 1);
    const second = await cluster.api(ConfigMap).list({ continue: token, limit: 1 });
    await cluster.clock.advance(2);
    const failure = await failureOf(cluster.api(ConfigMap).list({ continue: second.metadata.continue ?? '' }));
    expect(failure).toMatchObject({ reason: 'Expired' });
  });

  test('expires a continue token after the time that the storage configures', async () => {
    const cluster = await clusterWith(['a', 'b'], memoryStorage({ continueMs: 1_000 }));
    const token = await firstPage(cluster);
    await cluster.clock.advance(1_001);
    expect(await failureOf(cluster.api(ConfigMap).list({ continue: token }))).toMatchObject({ reason: 'Expired' });
  });

  test('does not keep a page for longer because a client changes the time in its token', async () => {
    const cluster = await clusterWith(['a', 'b', 'c'], memoryStorage({ continueMs: 1_000, history: 1 }));
    const { t: _t, ...token } = JSON.parse(atob(await firstPage(cluster))) as { readonly t: number };
    const forged = btoa(JSON.stringify({ ...token, t: 1e15 }));
    await cluster.api(ConfigMap).list({ continue: forged, limit: 1 });
    for (const name of ['d', 'e']) await cluster.api(ConfigMap).create({ metadata: { name } });
    await cluster.clock.advance(1_001);
    expect(await failureOf(cluster.api(ConfigMap).list({ continue: forged }))).toMatchObject({ reason: 'Expired' });
  });

  test('accepts a different limit for every page', async () => {
    const cluster = await clusterWith(['a', 'b', 'c', 'd']);
    const second = await cluster.api(ConfigMap).list({ continue: await firstPage(cluster), limit: 2 });
    expect(namesOf(second)).toEqual(['b', 'c']);
    expect(second.metadata.remainingItemCount).toBe(1);
  });

  test('continues in a namespace after the same name when the token is from another namespace', async () => {
    const cluster = await clusterWith(['a', 'b']);
    for (const name of ['a', 'c']) await cluster.api(ConfigMap, 'kube-system').create({ metadata: { name } });
    const token = await firstPage(cluster);
    expect(namesOf(await cluster.api(ConfigMap, 'kube-system').list({ continue: token }))).toEqual(['c']);
  });

  test('rejects a continue token with a resourceVersion other than 0', async () => {
    const cluster = await clusterWith(['a', 'b']);
    const token = await firstPage(cluster);
    expect(namesOf(await cluster.api(ConfigMap).list({ continue: token, resourceVersion: '0' }))).toEqual(['b']);
    expect(await failureOf(cluster.api(ConfigMap).list({ continue: token, resourceVersion: '5' }))).toMatchObject({
      reason: 'BadRequest',
      message: 'specifying resource version is not allowed when using continue',
    });
  });

  test('rejects an invalid continue token with the reason', async () => {
    const cluster = await clusterWith(['a']);
    expect(await failureOf(cluster.api(ConfigMap).list({ continue: '???' }))).toMatchObject({
      reason: 'BadRequest',
      message: 'invalid continue token: continue key is not valid: illegal base64 data at input byte 0',
    });
  });

  test('responds with Expired to a continue token of a revision that a restore removed', async () => {
    const cluster = await clusterWith(['a']);
    const before = cluster.snapshot();
    await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
    const token = await firstPage(cluster);
    cluster.restore(before);
    expect(await failureOf(cluster.api(ConfigMap).list({ continue: token }))).toMatchObject({ reason: 'Expired' });
  });
});
