/** Validation of Leases. */
import { Lease, type LeaseInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const featureGates = { CoordinatedLeaderElection: true };

const create = (spec: LeaseInput['spec'] & object) =>
  testCluster({ featureGates })
    .api(Lease)
    .create({ metadata: { name: 'a' }, spec });

const invalid = (...causes: { field: string; message?: string }[]) => ({
  reason: 'Invalid',
  status: { details: { causes } },
});

describe('a Lease', () => {
  test('gets an empty spec if none was sent', async () => {
    const stored = await testCluster()
      .api(Lease)
      .create({ metadata: { name: 'a' } });
    expect(stored.spec).toEqual({});
    expect(stored.apiVersion).toBe('coordination.orch.io/v1');
  });

  test('has another group in the kubernetes dialect', async () => {
    const leases = testCluster({ dialect: 'kubernetes' }).api(Lease);
    expect((await leases.create({ metadata: { name: 'a' } })).apiVersion).toBe('coordination.k8s.io/v1');
  });

  test('keeps the given fields, also empty ones', async () => {
    const spec = { holderIdentity: '', leaseDurationSeconds: 15, leaseTransitions: 0 };
    expect((await create(spec)).spec).toEqual(spec);
  });

  test('requires and keeps times with six fractional digits', async () => {
    const spec = { acquireTime: '2030-01-01T00:00:00.000000Z', renewTime: '2030-01-01T01:00:00.5+01:00' };
    await expect(create(spec)).rejects.toMatchObject({ reason: 'BadRequest' });
    expect((await create({ acquireTime: '2030-01-01T01:00:00.500000+01:00' })).spec.acquireTime).toBe(
      '2030-01-01T00:00:00.500000Z',
    );
  });
});

describe('Lease validation', () => {
  test.each([
    [
      'a zero duration',
      { leaseDurationSeconds: 0 },
      'spec.leaseDurationSeconds',
      'Invalid value: 0: must be greater than 0',
    ],
    [
      'negative transitions',
      { leaseTransitions: -1 },
      'spec.leaseTransitions',
      'Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'an unknown strategy',
      { strategy: 'Newest' },
      'spec.strategy.strategy',
      'Unsupported value: "Newest": supported values: "OldestEmulationVersion"',
    ],
    [
      'a preference without a strategy',
      { preferredHolder: 'me' },
      'spec.preferredHolder',
      'Forbidden: may only be specified if `strategy` is defined',
    ],
  ])('rejects %s', async (_what, spec, field, message) => {
    await expect(create(spec)).rejects.toMatchObject(invalid({ field, message }));
  });

  test('requires a custom strategy to be a qualified name', async () => {
    expect((await create({ strategy: 'example.com/mine' })).spec.strategy).toBe('example.com/mine');
    await expect(create({ strategy: '/mine' })).rejects.toMatchObject(
      invalid({ field: 'spec.strategy.strategy', message: 'Invalid value: "/mine": prefix part must be non-empty' }),
    );
  });

  test('accepts an empty preferredHolder without a strategy', async () => {
    expect((await create({ preferredHolder: '' })).spec).toEqual({ preferredHolder: '' });
  });

  test('rejects a fractional duration in the decoder', async () => {
    await expect(create({ leaseDurationSeconds: 1.5 })).rejects.toMatchObject({
      reason: 'BadRequest',
      message:
        'Lease in version "v1" cannot be handled as a Lease: json: cannot unmarshal number 1.5 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32',
    });
  });

  test('reports all problems at once', async () => {
    await expect(create({ leaseDurationSeconds: -5, leaseTransitions: -1, strategy: 'x' })).rejects.toMatchObject(
      invalid(
        { field: 'spec.leaseDurationSeconds' },
        { field: 'spec.leaseTransitions' },
        { field: 'spec.strategy.strategy' },
      ),
    );
  });

  test('reports problems in the same order on update', async () => {
    const leases = testCluster({ featureGates }).api(Lease);
    const first = await leases.create({ metadata: { name: 'a' } });
    await expect(leases.update({ ...first, spec: { leaseDurationSeconds: 0, strategy: 'x' } })).rejects.toMatchObject(
      invalid({ field: 'spec.leaseDurationSeconds' }, { field: 'spec.strategy.strategy' }),
    );
  });

  test('drops coordinated election fields if the feature gate is disabled', async () => {
    const leases = testCluster().api(Lease);
    const spec = { holderIdentity: 'me', strategy: 'x', preferredHolder: 'you' };
    const first = await leases.create({ metadata: { name: 'a' }, spec });
    expect(first.spec).toEqual({ holderIdentity: 'me' });
    expect((await leases.update({ ...first, spec })).spec).toEqual({ holderIdentity: 'me' });
  });
});
