/** docs/specification.md, R19, R20 and R21: CSIDriver, CSINode and CSIStorageCapacity. */
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService, pathOf } from './service.js';

describe('CSIDriver', () => {
  const create = (spec: Json) => openService().create('CSIDriver', { spec });

  /** The status code of a change to a driver that has been created with other values. */
  async function change(field: string, from: Json, to: Json): Promise<number> {
    const service = openService();
    await service.create('CSIDriver', { spec: { [field]: from } });
    return (await service.merge('CSIDriver', 'a', { spec: { [field]: to } })).code;
  }

  test('R19.1: is cluster-scoped and has the documented fields', async () => {
    const service = openService();
    expect(pathOf('CSIDriver')).not.toContain('namespaces');
    expect((await service.list('CSIDriver')).code).toBe(200);
    expect(await fieldsOf(service, 'CSIDriver', 'CSIDriverSpec')).toMatchObject({
      attachRequired: 'boolean',
      fsGroupPolicy: 'string',
      podInfoOnMount: 'boolean',
      requiresRepublish: 'boolean',
      seLinuxMount: 'boolean',
      storageCapacity: 'boolean',
      tokenRequests: '[]TokenRequest atomic',
      volumeLifecycleModes: '[]string set',
    });
    expect(await fieldsOf(service, 'CSIDriver', 'TokenRequest')).toEqual({
      audience: 'string!',
      expirationSeconds: 'int64',
    });
  });

  test('R19.2: absent fields have their defaults', async () => {
    expect((await create({})).body.spec).toEqual({
      attachRequired: true,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      podInfoOnMount: false,
      requiresRepublish: false,
      seLinuxMount: false,
      storageCapacity: false,
      volumeLifecycleModes: ['Persistent'],
    });
  });

  test('R19.3: attachRequired and volumeLifecycleModes are immutable', async () => {
    expect(await change('attachRequired', true, false)).toBe(422);
    expect(await change('volumeLifecycleModes', ['Persistent'], ['Ephemeral'])).toBe(422);
  });

  test('R19.4: fsGroupPolicy, podInfoOnMount, storageCapacity and requiresRepublish can change', async () => {
    expect(await change('fsGroupPolicy', 'ReadWriteOnceWithFSType', 'None')).toBe(200);
    expect(await change('podInfoOnMount', false, true)).toBe(200);
    expect(await change('storageCapacity', false, true)).toBe(200);
    expect(await change('requiresRepublish', false, true)).toBe(200);
  });

  test('R19.5: lifecycle modes are Persistent and Ephemeral', async () => {
    expect((await create({ volumeLifecycleModes: ['Persistent', 'Ephemeral'] })).code).toBe(201);
    expect((await create({ volumeLifecycleModes: ['Eternal'] })).causes).toEqual([
      'spec.volumeLifecycleModes: NotSupported',
    ]);
  });

  test('R19.6: a token request has an audience, which may be empty', async () => {
    expect((await create({ tokenRequests: [{ expirationSeconds: 600 }] })).causes).toEqual([
      'spec.tokenRequests[0].audience: Required',
    ]);
    expect((await create({ tokenRequests: [{ audience: '' }, { audience: 'b' }] })).code).toBe(201);
  });

  test.each(['', 'a'])('R19.7: the audience "%s" occurs once', async (audience) => {
    const twice = await create({ tokenRequests: [{ audience }, { audience }] });
    expect(twice.causes).toEqual(['spec.tokenRequests[1].audience: Duplicate']);
  });
});

describe('CSINode', () => {
  const driver = { name: 'd.example.com', nodeID: 'n' };
  const create = (...drivers: Json[]) => openService().create('CSINode', { spec: { drivers } });

  test('R20.1: has a required spec with required drivers', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'CSINode', 'CSINode')).toMatchObject({ spec: 'CSINodeSpec!' });
    expect(await fieldsOf(service, 'CSINode', 'CSINodeSpec')).toEqual({ drivers: '[]CSINodeDriver map name!' });
    expect(await fieldsOf(service, 'CSINode', 'CSINodeDriver')).toEqual({
      name: 'string!',
      nodeID: 'string!',
      allocatable: 'VolumeNodeResources',
      topologyKeys: '[]string atomic',
    });
    expect(await service.create('CSINode', {})).toMatchObject({ code: 422, causes: ['spec: Required'] });
    expect((await service.create('CSINode', { spec: {} })).causes).toEqual(['spec.drivers: Required']);
    expect((await service.create('CSINode', { spec: { drivers: [] } })).code).toBe(201);
  });

  test('R20.2: a driver has a name, which is its key, and the ID of the node', async () => {
    expect((await create(driver)).code).toBe(201);
    expect((await create({ nodeID: 'n' })).causes).toContain('spec.drivers[0].name: Required');
    expect((await create({ name: 'd' })).causes).toEqual(['spec.drivers[0].nodeID: Required']);
    expect((await create(driver, driver)).causes).toEqual(['spec.drivers[1].name: Duplicate']);
  });

  test('R20.3: the number of volumes is limited or absent', async () => {
    const limited = await create({ ...driver, allocatable: { count: 0 } });
    expect(limited.body.spec.drivers[0].allocatable).toEqual({ count: 0 });
    expect((await create({ ...driver, allocatable: { count: -1 } })).code).toBe(422);
    expect((await create(driver)).body.spec.drivers[0]).not.toHaveProperty('allocatable');
  });
});

describe('CSIStorageCapacity', () => {
  const create = (body: Json) => openService().create('CSIStorageCapacity', body);

  test('R21.1: is namespaced and has the documented fields', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'CSIStorageCapacity', 'CSIStorageCapacity')).toMatchObject({
      storageClassName: 'string!',
      capacity: 'Quantity',
      maximumVolumeSize: 'Quantity',
      nodeTopology: 'LabelSelector',
    });
    const full = {
      storageClassName: 's',
      capacity: '1Gi',
      maximumVolumeSize: '1Mi',
      nodeTopology: { matchLabels: { zone: 'a' } },
    };
    expect((await service.create('CSIStorageCapacity', full)).body).toMatchObject({
      ...full,
      metadata: { namespace: 'default' },
    });
    expect((await create({ storageClassName: 's' })).body).not.toHaveProperty('capacity');
  });

  test('R21.2: the storage class is required and has the name of one', async () => {
    expect((await create({})).causes).toEqual([expect.stringContaining('storageClassName: ')]);
    expect((await create({ storageClassName: 'Not_a_name' })).causes).toEqual(['storageClassName: Invalid']);
  });

  test('R21.3: the storage class is immutable', async () => {
    const service = openService();
    await service.create('CSIStorageCapacity', { storageClassName: 's' });
    const changed = await service.merge('CSIStorageCapacity', 'a', { storageClassName: 't' });
    expect(changed.causes).toEqual(['storageClassName: Invalid']);
    expect((await service.merge('CSIStorageCapacity', 'a', { capacity: '1' })).code).toBe(200);
  });
});
