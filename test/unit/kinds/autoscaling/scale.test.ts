/** The `scale` subresource of workloads. */
import { mergePatch, type Patch, StatusError } from 'orchplane';
import { Deployment, ReplicaSet, ReplicationController, Scale, StatefulSet } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { scaleSubresource } from '../../../../src/kinds/autoscaling/v1/scale.js';
import type { HookContext } from '../../../../src/kinds/kind.js';
import type { ApiObject, DraftObject } from '../../../../src/meta/object.js';

const context = {} as HookContext;
const metadata = {
  name: 'd',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2030-01-01T00:00:00Z',
};
const live = (spec: object, status?: object) =>
  ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec, ...(status && { status }) }) as unknown as ApiObject;

describe('a Scale', () => {
  test.each<[object, object | undefined, object]>([
    [
      { replicas: 2, selector: { matchLabels: { b: 'c', a: 'b' } } },
      { replicas: 1 },
      { spec: { replicas: 2 }, status: { replicas: 1, selector: 'a=b,b=c' } },
    ],
    [{ replicas: 0 }, undefined, { spec: {}, status: { replicas: 0 } }],
  ])('computes a Scale from spec %j and status %j', (spec, status, expected) => {
    expect(scaleSubresource().read(live(spec, status), context)).toMatchObject(expected);
  });

  test('uses the selector function of its kind', () => {
    const view = scaleSubresource({ selector: () => 'x=y' });
    expect(view.read(live({ replicas: 1 }), context)['status']).toEqual({ replicas: 0, selector: 'x=y' });
  });

  test('sets the replicas to zero for a Scale without replicas', () => {
    const draft = { metadata: {}, spec: { replicas: 3 } } as unknown as DraftObject;
    scaleSubresource().write(live({}), draft, context);
    expect(draft['spec']).toEqual({ replicas: 0 });
  });

  test('rejects negative replicas', () => {
    expect(Scale.strategy.create.validate?.(live({ replicas: -1 }), context)).toEqual([
      { type: 'invalid', field: 'spec.replicas', message: 'Invalid value: -1: must be greater than or equal to 0' },
    ]);
  });
});

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const input = { metadata: { name: 'w' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
const cases = {
  deployments: [Deployment, input],
  replicasets: [ReplicaSet, input],
  statefulsets: [StatefulSet, input],
  replicationcontrollers: [ReplicationController, { ...input, spec: { selector: { a: 'b' }, template } }],
} as const;

async function statusOf(failing: Promise<unknown>) {
  const error = await failing.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!StatusError.is(error)) throw error;
  return error.status;
}

describe('the scale subresource of a workload', () => {
  test.each([
    [Deployment, 'deployments', '.apps'],
    [ReplicaSet, 'replicasets', '.apps'],
    [StatefulSet, 'statefulsets', '.apps'],
    [ReplicationController, 'replicationcontrollers', ''],
  ])('returns NotFound for the scale of a missing object: $kind', async (workload, kind, suffix) => {
    const scales = testCluster()
      .api(workload as typeof Deployment)
      .subresource('scale');
    expect(await statusOf(scales.get('none'))).toMatchObject({
      code: 404,
      message: `${kind}${suffix} "none" not found`,
      details: { name: 'none', kind },
    });
  });

  test.each(Object.keys(cases) as (keyof typeof cases)[])('has the metadata of its object: %s', async (plural) => {
    const [workload, made] = cases[plural];
    const api = testCluster().api(workload as typeof Deployment);
    const { uid } = (await api.create(made as typeof input)).metadata;
    const scales = api.subresource('scale');
    const group = plural === 'replicationcontrollers' ? '' : '.apps';
    const why = `Precondition failed: UID in precondition: x, UID in object meta: ${uid}`;
    const patch: Patch<unknown> = mergePatch({ metadata: { uid: 'x' }, spec: { replicas: 2 } });
    expect(await statusOf(scales.patch('w', patch as never))).toMatchObject({
      code: 409,
      message: `Operation cannot be fulfilled on ${plural}/scale${group} "w": ${why}`,
    });
    const folder = plural === 'replicationcontrollers' ? 'controllers' : plural;
    const put = { metadata: { name: 'w', uid: 'x' }, spec: { replicas: 2 } };
    expect(await statusOf(scales.update('w', put))).toMatchObject({
      code: 409,
      message: `Operation cannot be fulfilled on ${plural}${group} "w": StorageError: invalid object, Code: 4, Key: /registry/${folder}/default/w, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
    });
    expect((await api.get('w')).spec.replicas).toBe(1);
    expect((await scales.update('w', { ...put, metadata: { name: 'w', uid } })).spec.replicas).toBe(2);
  });
});
