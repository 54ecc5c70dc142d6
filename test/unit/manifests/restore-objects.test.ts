import { expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { ConfigMap, Node } from '../../../src/kinds/index.js';
import type { ManifestTarget } from '../../../src/manifests/apply.js';
import { restoreObjects } from '../../../src/manifests/restore-objects.js';
import { StatusError } from '../../../src/meta/errors.js';
import type { ApiObject } from '../../../src/meta/object.js';
import type { Verb } from '../../../src/protocol/request.js';

const configMap = (name: string): ApiObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', uid: `uid-${name}` } }) as ApiObject;

const failure = (code: number, retryAfterSeconds?: number): StatusError =>
  new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code,
    message: `failure ${code}`,
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  });

/** A cluster whose creations fail as `fail` says, and whose first answer to the verb `lost` is lost; pauses take no time. */
function failingTarget(fail: (name: string, attempt: number) => StatusError | undefined, lost?: Verb) {
  const cluster = createCluster({ dialect: 'kubernetes' });
  const attempts = new Map<string, number>();
  const pauses: number[] = [];
  let losses = 0;
  const target: ManifestTarget = {
    dialect: cluster.dialect,
    clock: {
      now: () => 0,
      after(ms, run) {
        pauses.push(ms);
        queueMicrotask(run);
        return () => undefined;
      },
    },
    kinds: () => cluster.kinds().map((kind) => ({ ...kind, subresources: ['status'] })),
    async send(request) {
      const { name = '' } = ((request.body?.read().value ?? {}) as ApiObject).metadata ?? {};
      const attempt = (attempts.get(name) ?? 0) + 1;
      attempts.set(name, attempt);
      const error = request.verb === 'create' ? fail(name, attempt) : undefined;
      if (error !== undefined) throw error;
      const response = await cluster.send(request);
      if (request.verb === lost && ++losses === 1) throw failure(503);
      return response;
    },
  };
  return { cluster, target, pauses, attempts };
}

const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', uid: 'old' },
  status: { allocatable: { cpu: '3' } },
} as unknown as ApiObject;

const never = (): undefined => undefined;

test('repeats requests for which the server fails, after the time that it names', async () => {
  const { target, pauses } = failingTarget((name, attempt) =>
    name === 'a' && attempt < 3 ? failure(500, attempt === 1 ? 7 : undefined) : undefined,
  );
  expect(await restoreObjects(target, [configMap('a'), configMap('b')])).toEqual({
    created: 2,
    replaced: 0,
    existing: 0,
    failures: [],
  });
  expect(pauses).toEqual([7_000, 1_000]);
});

test('continues with the other objects when the server fails for one of them', async () => {
  const { target, attempts } = failingTarget((name) => (name === 'a' ? failure(500) : undefined));
  expect(await restoreObjects(target, [configMap('a'), configMap('b')])).toMatchObject({
    created: 1,
    failures: ['ConfigMap default/a: failure 500'],
  });
  expect(attempts.get('a')).toBe(4);
});

test('ends after three failures in a row, and names the objects that were not sent', async () => {
  const { target, attempts } = failingTarget((name) => (name === 'a' ? undefined : failure(503)));
  const objects = ['a', 'b', 'c', 'd', 'e', 'f'].map(configMap);
  expect(await restoreObjects(target, objects)).toMatchObject({
    created: 1,
    failures: [
      'ConfigMap default/b: failure 503',
      'ConfigMap default/c: failure 503',
      'ConfigMap default/d: failure 503',
      'ConfigMap default/e: not sent, because the server failed before',
      'ConfigMap default/f: not sent, because the server failed before',
    ],
  });
  expect(attempts.has('e')).toBe(false);
});

test('counts an object as created, and restores its status, if the answer to its creation was lost', async () => {
  const { cluster, target } = failingTarget(never, 'create');
  expect(await restoreObjects(target, [NODE])).toEqual({ created: 1, replaced: 0, existing: 0, failures: [] });
  expect((await cluster.api(Node).get('n')).status.allocatable).toEqual({ cpu: '3' });
});

test('leaves an object of another client as it is if the server failed before', async () => {
  const { cluster, target } = failingTarget((_name, attempt) => (attempt === 1 ? failure(500) : undefined));
  await cluster.api(Node).create({ metadata: { name: 'n', labels: { a: 'b' } } }, { fieldManager: 'other' });
  expect(await restoreObjects(target, [NODE])).toMatchObject({ created: 0, existing: 1, failures: [] });
  expect((await cluster.api(Node).get('n')).status.allocatable).toBeUndefined();
});

test('replaces an object although the answer to its update was lost', async () => {
  const { cluster, target } = failingTarget(never, 'update');
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: { from: 'another client' } });
  const report = await restoreObjects(target, [configMap('a')], { overwrite: true });
  expect(report).toEqual({ created: 0, replaced: 1, existing: 0, failures: [] });
  expect((await cluster.api(ConfigMap).get('a')).data).toBeUndefined();
});

test('repeats a request if the server is overloaded', async () => {
  const { target, pauses } = failingTarget((_name, attempt) => (attempt === 1 ? failure(429, 5) : undefined));
  expect(await restoreObjects(target, [configMap('a')])).toMatchObject({ created: 1, failures: [] });
  expect(pauses).toEqual([5_000]);
});

test('does not repeat a request that the server rejects', async () => {
  const { target, attempts } = failingTarget(() => failure(403));
  expect((await restoreObjects(target, [configMap('a')])).failures).toEqual(['ConfigMap default/a: failure 403']);
  expect(attempts.get('a')).toBe(1);
});
