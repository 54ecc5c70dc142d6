import { expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import type { ManifestTarget } from '../../../src/manifests/apply.js';
import { restoreObjects } from '../../../src/manifests/restore-objects.js';
import { StatusError } from '../../../src/meta/errors.js';
import type { ApiObject } from '../../../src/meta/object.js';

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

/** A cluster whose creations fail as `fail` says; pauses take no time. */
function failingTarget(fail: (name: string, attempt: number) => StatusError | undefined) {
  const cluster = createCluster({ dialect: 'kubernetes' });
  const attempts = new Map<string, number>();
  const pauses: number[] = [];
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
    kinds: () => cluster.kinds(),
    send(request) {
      const { name = '' } = ((request.body?.read().value ?? {}) as ApiObject).metadata ?? {};
      const attempt = (attempts.get(name) ?? 0) + 1;
      attempts.set(name, attempt);
      const error = request.verb === 'create' ? fail(name, attempt) : undefined;
      if (error !== undefined) throw error;
      return cluster.send(request);
    },
  };
  return { target, pauses, attempts };
}

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

test('does not repeat a request that the server rejects', async () => {
  const { target, attempts } = failingTarget(() => failure(403));
  expect((await restoreObjects(target, [configMap('a')])).failures).toEqual(['ConfigMap default/a: failure 403']);
  expect(attempts.get('a')).toBe(1);
});
