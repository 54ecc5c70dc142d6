/** Creating objects: server-set fields, consistency of URL and body, duplicate owners, unknown fields. */
import { mergePatch } from 'orchplane';
import { ConfigMap, type ConfigMapInput, Lease, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf } from './watch-reader.js';

/** A cluster and the warnings that its client received. */
function withWarnings() {
  const warnings: string[] = [];
  return { warnings, cluster: testCluster({ client: { onWarning: (warning) => warnings.push(warning) } }) };
}

test('quotes names in messages as Go does', async () => {
  const configMaps = testCluster().api(ConfigMap);
  await expect(configMaps.create({ metadata: { name: 'a"b' } })).rejects.toThrow('ConfigMap "a\\"b" is invalid: ');
  const control = configMaps.create({ metadata: { name: 'a\tb\u0001' } });
  await expect(control).rejects.toThrow('ConfigMap "a\\tb\\x01" is invalid: ');
});

describe('fields that the server sets', () => {
  test('sets the metadata fields of the server on create', async () => {
    const cluster = testCluster();
    const { metadata } = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(metadata).toEqual({
      name: 'a',
      namespace: 'default',
      uid: '00000000-0000-4000-8000-000000000005',
      resourceVersion: '5',
      creationTimestamp: '2030-01-01T00:00:00Z',
    });
  });

  test('ignores values of the client for metadata fields of the server', async () => {
    const cluster = testCluster();
    const sent = {
      name: 'a',
      uid: 'mine',
      creationTimestamp: '2020-01-01T00:00:00Z',
      deletionTimestamp: '2020-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 30,
      managedFields: [{ manager: 'me' }],
    };
    const { metadata } = await cluster.api(ConfigMap).create({ metadata: sent });
    expect(metadata.uid).toBe('00000000-0000-4000-8000-000000000005');
    expect(metadata.creationTimestamp).toBe('2030-01-01T00:00:00Z');
    for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'managedFields']) {
      expect(metadata).not.toHaveProperty(field);
    }
  });

  test('sets creationTimestamp to the time of the cluster, in whole seconds', async () => {
    const cluster = testCluster();
    await cluster.clock.advance(61_999);
    const { metadata } = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(metadata.creationTimestamp).toBe('2030-01-01T00:01:01Z');
  });

  test('rejects a create with a resourceVersion', async () => {
    const configMaps = testCluster().api(ConfigMap);
    const create = (resourceVersion: string) => configMaps.create({ metadata: { name: 'a', resourceVersion } });
    expect(await failureOf(create('3'))).toMatchObject({
      code: 500,
      reason: undefined,
      message: 'resourceVersion should not be set on objects to be created',
    });
    expect((await create('0')).metadata.resourceVersion).toBe('5');
  });

  test('keeps metadata fields of the server in an update that omits them', async () => {
    const cluster = testCluster();
    const before = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.clock.advance(60_000);
    const { metadata } = await cluster.api(ConfigMap).update({ metadata: { name: 'a' }, data: { k: 'v' } });
    expect(metadata).toEqual({ ...before.metadata, resourceVersion: '6' });
  });
});

describe('the URL and the body of a request', () => {
  test('requires URL and body to agree on the namespace', async () => {
    const configMaps = testCluster().api(ConfigMap);
    expect(await failureOf(configMaps.create({ metadata: { name: 'a', namespace: 'other' } }))).toMatchObject({
      reason: 'BadRequest',
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    });
  });

  test('drops the namespace in the body of a cluster-scoped object', async () => {
    const stored = await testCluster()
      .api(Namespace)
      .create({ metadata: { name: 'dev', namespace: 'other' } });
    expect(stored.metadata).not.toHaveProperty('namespace');
  });

  test('requires URL and patch to agree on the name and the namespace', async () => {
    const configMaps = testCluster().api(ConfigMap);
    await configMaps.create({ metadata: { name: 'a' } });
    expect(await failureOf(configMaps.patch('a', mergePatch({ metadata: { name: 'b' } })))).toMatchObject({
      reason: 'BadRequest',
      message: 'the name of the object (b) does not match the name on the URL (a)',
    });
    expect(await failureOf(configMaps.patch('a', mergePatch({ metadata: { name: null } })))).toMatchObject({
      message: 'the name of the object (a based on URL) was undeterminable: name must be provided',
    });
    expect(await failureOf(configMaps.patch('a', mergePatch({ metadata: { namespace: 'b' } })))).toMatchObject({
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    });
  });

  test('requires URL and body to agree on the kind', async () => {
    const configMaps = testCluster().api(ConfigMap);
    expect(
      await failureOf(configMaps.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } })),
    ).toMatchObject({
      reason: 'BadRequest',
      message:
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    });
  });
});

describe('a duplicate owner reference', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u1' };
  const other = { ...owner, uid: 'u2' };
  const warning = (uids: string) =>
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`;

  test('removes a duplicate owner reference on create with a warning', async () => {
    const { cluster, warnings } = withWarnings();
    const ownerReferences = [owner, other, { ...owner }, { ...other }];
    const { metadata } = await cluster.api(ConfigMap).create({ metadata: { name: 'a', ownerReferences } });
    expect(metadata.ownerReferences).toEqual([owner, other]);
    expect(warnings).toEqual([warning('u1, u2')]);
  });

  test('removes a duplicate owner reference on update with a warning', async () => {
    const { cluster, warnings } = withWarnings();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const ownerReferences = [owner, { ...owner }];
    const { metadata } = await cluster.api(ConfigMap).update({ metadata: { name: 'a', ownerReferences } });
    expect(metadata.ownerReferences).toEqual([owner]);
    expect(warnings).toEqual([warning('u1')]);
  });

  test('keeps owner references that differ', async () => {
    const { cluster, warnings } = withWarnings();
    const ownerReferences = [owner, { ...owner, controller: false }];
    const { metadata } = await cluster.api(ConfigMap).create({ metadata: { name: 'a', ownerReferences } });
    expect(metadata.ownerReferences).toEqual(ownerReferences);
    expect(warnings).toEqual([]);
  });

  test('warns about a duplicate owner reference also if the write fails for another reason', async () => {
    const { cluster } = withWarnings();
    const error = await failureOf(
      cluster.api(ConfigMap).create({ metadata: { name: 'Not A Name', ownerReferences: [owner, { ...owner }] } }),
    );
    expect(error).toMatchObject({ reason: 'Invalid', warnings: [warning('u1')] });
  });
});

describe('unknown fields', () => {
  const sent = { metadata: { name: 'a' }, dta: { k: 'v' } } as never;

  test('drops unknown fields with a warning', async () => {
    const { cluster, warnings } = withWarnings();
    expect(await cluster.api(ConfigMap).create(sent)).not.toHaveProperty('dta');
    expect(warnings).toEqual(['unknown field "dta"']);
  });

  test('drops unknown fields without a warning if fieldValidation is Ignore', async () => {
    const { cluster, warnings } = withWarnings();
    await cluster.api(ConfigMap).create(sent, { fieldValidation: 'Ignore' });
    expect(warnings).toEqual([]);
  });

  test('rejects unknown fields if fieldValidation is Strict', async () => {
    const { cluster } = withWarnings();
    expect(await failureOf(cluster.api(ConfigMap).create(sent, { fieldValidation: 'Strict' }))).toMatchObject({
      code: 400,
      message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta"',
    });
    expect(await cluster.api(ConfigMap).find('a')).toBeUndefined();
  });

  test('rejects unknown fields of a patch with the message for patches if fieldValidation is Strict', async () => {
    const { cluster } = withWarnings();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const patch = mergePatch<ConfigMapInput>({ dta: 'v' } as never);
    const error = await failureOf(cluster.api(ConfigMap).patch('a', patch, { fieldValidation: 'Strict' }));
    expect(error).toMatchObject({
      code: 422,
      message: expect.stringMatching(
        /^ "" is invalid: patch: Invalid value: .*strict decoding error: unknown field "dta"$/,
      ),
    });
  });
});

describe('an update of a missing object', () => {
  test('creates a missing object on update if the kind allows that', async () => {
    const leases = testCluster().api(Lease);
    const stored = await leases.update({
      metadata: { name: 'a', resourceVersion: '99' },
      spec: { holderIdentity: 'me' },
    });
    expect(stored.metadata).toMatchObject({ name: 'a', resourceVersion: '5' });
    expect(stored.spec.holderIdentity).toBe('me');
  });

  test('responds with NotFound to an update of a missing object if the kind does not allow creation by update', async () => {
    expect(
      await failureOf(
        testCluster({ dialect: 'kubernetes' })
          .api(ConfigMap)
          .update({ metadata: { name: 'a' } }),
      ),
    ).toMatchObject({
      code: 404,
      message: 'configmaps "a" not found',
    });
  });

  test('responds with a conflict to an update of a missing object with a uid', async () => {
    const leases = testCluster().api(Lease);
    expect(await failureOf(leases.update({ metadata: { name: 'a', uid: 'u1' } }))).toMatchObject({
      reason: 'Conflict',
      message: expect.stringContaining('Precondition failed: UID in precondition: u1, UID in object meta: '),
    });
  });
});

test('reports that a name belongs to an object that is being deleted', async () => {
  const configMaps = testCluster().api(ConfigMap);
  await configMaps.create({ metadata: { name: 'a', finalizers: ['example.com/hold'] } });
  await configMaps.delete('a');
  expect(await failureOf(configMaps.create({ metadata: { name: 'a' } }))).toMatchObject({
    code: 409,
    message: 'object is being deleted: configmaps "a" already exists',
  });
});
