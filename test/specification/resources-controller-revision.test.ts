/** docs/specification.md, R4: ControllerRevision. */
import { describe, expect, test } from 'vitest';
import { fieldsOf, openService } from './service.js';

describe('ControllerRevision', () => {
  test('R4.1: has a required revision, which may be 0', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'ControllerRevision', 'ControllerRevision')).toMatchObject({
      revision: 'int64!',
      data: 'RawExtension',
      metadata: 'ObjectMeta',
    });
    for (const body of [{ data: {} }, { data: {}, revision: null }]) {
      const missing = await service.create('ControllerRevision', body);
      expect(missing).toMatchObject({ code: 422, body: { reason: 'Invalid' }, causes: ['revision: Required'] });
    }
    expect((await service.apply('ControllerRevision', 'a', { data: {} }, 'm')).causes).toEqual(['revision: Required']);
    const zero = await service.create('ControllerRevision', { revision: 0 });
    expect(zero).toMatchObject({ code: 201, body: { revision: 0 } });
    const removed = await service.merge('ControllerRevision', 'a', { revision: null });
    expect(removed.causes).toEqual(['revision: Required']);
  });

  test('R4.2: the data is optional and is returned as it was given', async () => {
    const service = openService();
    expect((await service.create('ControllerRevision', { revision: 1 })).body).not.toHaveProperty('data');
    const data = { spec: { template: { b: 1, a: [true, null] } } };
    const made = await service.create('ControllerRevision', { metadata: { name: 'b' }, revision: 1, data });
    expect(made.body.data).toEqual(data);
  });

  test('R4.3: the data cannot be changed, the revision can', async () => {
    const service = openService();
    await service.create('ControllerRevision', { revision: 1, data: { a: 1 } });
    const changed = await service.merge('ControllerRevision', 'a', { data: { a: 2 } });
    expect(changed).toMatchObject({ code: 422, causes: ['data: Invalid'] });
    expect((await service.merge('ControllerRevision', 'a', { revision: 2 })).body.revision).toBe(2);
  });

  test('R4.4: a ControllerRevision can be deleted', async () => {
    const service = openService();
    await service.create('ControllerRevision', { revision: 1 });
    expect((await service.remove('ControllerRevision', 'a')).code).toBe(200);
    expect((await service.get('ControllerRevision', 'a')).code).toBe(404);
  });
});
