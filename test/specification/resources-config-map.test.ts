/** docs/specification.md, R8 and R9: ConfigMap and Secret. */
import { describe, expect, test } from 'vitest';
import { fieldsOf, openService, pathOf } from './service.js';

describe('ConfigMap', () => {
  test('R8.1: has the documented fields', async () => {
    expect(await fieldsOf(openService(), 'ConfigMap', 'ConfigMap')).toMatchObject({
      data: 'map[string]',
      binaryData: 'map[byte]',
      immutable: 'boolean',
    });
  });

  test.each(['data', 'binaryData'])(
    'R8.2: keys of %s consist of letters, digits, dashes, underscores and dots',
    async (field) => {
      const service = openService();
      expect((await service.create('ConfigMap', { [field]: { 'aZ0-_.': 'YQ==' } })).code).toBe(201);
      for (const key of ['a b', 'a/b', '']) {
        const { code, causes } = await service.create('ConfigMap', { [field]: { [key]: 'YQ==' } });
        expect(code).toBe(422);
        expect(causes).toEqual([expect.stringContaining(field)]);
      }
    },
  );

  test('R8.3: bytes that are not UTF-8 go to binaryData', async () => {
    const service = openService();
    const made = await service.create('ConfigMap', { binaryData: { k: '//79' } });
    expect(made.body.binaryData).toEqual({ k: '//79' });
  });

  test('R8.4: data and binaryData have no key in common', async () => {
    const { causes } = await openService().create('ConfigMap', { data: { k: 'v' }, binaryData: { k: 'YQ==' } });
    expect(causes).toEqual([expect.stringMatching(/^(data|binaryData)\[k\]: Invalid$/)]);
  });

  test('R8.5: immutable data cannot change, metadata can', async () => {
    const service = openService();
    expect((await service.create('ConfigMap', { data: { k: 'v' } })).body).not.toHaveProperty('immutable');
    await service.merge('ConfigMap', 'a', { immutable: true });
    for (const change of [{ data: { k: 'w' } }, { binaryData: { l: 'YQ==' } }, { immutable: false }]) {
      expect((await service.merge('ConfigMap', 'a', change)).code).toBe(422);
    }
    expect((await service.merge('ConfigMap', 'a', { metadata: { labels: { l: '1' } } })).code).toBe(200);
  });
});

describe('Secret', () => {
  test('R9.1: has the documented fields', async () => {
    expect(await fieldsOf(openService(), 'Secret', 'Secret')).toMatchObject({
      data: 'map[byte]',
      stringData: 'map[string]',
      immutable: 'boolean',
      type: 'string',
    });
  });

  test('R9.2: the size of all values together is limited', async () => {
    const service = openService();
    const half = 'x'.repeat(512 * 1024);
    expect((await service.create('Secret', { stringData: { a: half } })).code).toBe(201);
    const large = await service.create('Secret', { metadata: { name: 'b' }, stringData: { a: half, b: `${half}x` } });
    expect(large).toMatchObject({ code: 422, causes: ['data: TooLong'] });
  });

  test('R9.3: stringData overrides data and is never returned', async () => {
    const service = openService();
    const made = await service.create('Secret', { data: { a: 'YQ==', b: 'Yg==' }, stringData: { b: 'new' } });
    expect(made.body).toMatchObject({ data: { a: 'YQ==', b: btoa('new') } });
    expect(made.body).not.toHaveProperty('stringData');
    const { body } = await service.get('Secret', 'a');
    expect(body).not.toHaveProperty('stringData');
    const next = await service.send('PUT', pathOf('Secret', 'a'), { ...body, stringData: { a: 'x' } });
    expect(next.body.data).toEqual({ a: btoa('x'), b: btoa('new') });
  });

  test('R9.4: an immutable Secret keeps its data', async () => {
    const service = openService();
    await service.create('Secret', { immutable: true, stringData: { a: 'b' } });
    expect((await service.merge('Secret', 'a', { stringData: { a: 'c' } })).code).toBe(422);
    expect((await service.merge('Secret', 'a', { immutable: false })).code).toBe(422);
    expect((await service.merge('Secret', 'a', { metadata: { labels: { l: '1' } } })).code).toBe(200);
  });

  test('R9.5: the type tells programs how to use the data', async () => {
    const service = openService();
    expect((await service.create('Secret', {})).body.type).toBe('Opaque');
    const typed = await service.create('Secret', { metadata: { name: 'b' }, type: 'example.com/t' });
    expect(typed.body.type).toBe('example.com/t');
    const tls = await service.create('Secret', { metadata: { name: 'c' }, type: 'orch.io/tls' });
    expect(tls.causes).toEqual(['data[tls.crt]: Required', 'data[tls.key]: Required']);
  });
});
