/** Validation of ConfigMaps. */
import { mergePatch } from 'orchplane';
import { ConfigMap, type ConfigMapInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const configMaps = () => testCluster().api(ConfigMap);
const create = (input: Omit<ConfigMapInput, 'metadata'>) => configMaps().create({ metadata: { name: 'a' }, ...input });

/** The expected rejection with these causes. */
const invalid = (...causes: { field: string; message?: string }[]) => ({
  reason: 'Invalid',
  status: { details: { causes } },
});

describe('ConfigMap keys', () => {
  test.each(['k', 'my.key', 'MY_KEY', '-', '_', '...a'.slice(3), 'x'.repeat(253)])('may be %s', async (key) => {
    expect((await create({ data: { [key]: 'v' } })).data).toEqual({ [key]: 'v' });
  });

  test.each([
    ['', "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"],
    ['a b', "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"],
    ['a/b', "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"],
    ['.', "must not be '.'"],
    ['..', "must not be '..'"],
    ['..a', "must not start with '..'"],
    ['x'.repeat(254), 'must be no more than 253 characters'],
  ])('may not be "%s"', async (key, why) => {
    const message = expect.stringContaining(`Invalid value: ${JSON.stringify(key)}: ${why}`) as string;
    await expect(create({ data: { [key]: 'v' } })).rejects.toMatchObject(invalid({ field: `data[${key}]`, message }));
  });

  test('of binaryData follow the same rule', async () => {
    await expect(create({ binaryData: { 'a b': '' } })).rejects.toMatchObject(invalid({ field: 'binaryData[a b]' }));
  });

  test('may not be in both data and binaryData', async () => {
    await expect(create({ data: { k: 'v' }, binaryData: { k: 'dg==' } })).rejects.toMatchObject(
      invalid({ field: 'data[k]', message: 'Invalid value: "k": duplicate of key present in binaryData' }),
    );
  });

  test('are all reported if they are invalid', async () => {
    await expect(create({ data: { 'a b': '', '..': '' } })).rejects.toMatchObject(
      invalid({ field: 'data[..]' }, { field: 'data[a b]' }),
    );
  });
});

describe('ConfigMap values', () => {
  test('of binaryData are stored as canonical base64', async () => {
    expect((await create({ binaryData: { k: 'YWJj\nZA==' } })).binaryData).toEqual({ k: 'YWJjZA==' });
  });

  test('of binaryData must be base64', async () => {
    await expect(create({ binaryData: { k: '!' } })).rejects.toMatchObject({
      reason: 'BadRequest',
      message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: illegal base64 data at input byte 0',
    });
  });

  test('of null are empty strings', async () => {
    expect((await create({ data: { k: null as never } })).data).toEqual({ k: '' });
  });

  test('are limited to 1 MiB, text and binary together', async () => {
    const half = 512 * 1024;
    const binary = Buffer.alloc(half).toString('base64');
    expect((await create({ data: { text: 'x'.repeat(half) }, binaryData: { bytes: binary } })).kind).toBe('ConfigMap');
    await expect(create({ data: { text: 'x'.repeat(half + 1) }, binaryData: { bytes: binary } })).rejects.toMatchObject(
      invalid({ field: '[]', message: 'Too long: may not be more than 1048576 bytes' }),
    );
  });

  test('are measured in bytes, not in characters', async () => {
    await expect(create({ data: { text: 'é'.repeat(512 * 1024 + 1) } })).rejects.toMatchObject(
      invalid({ field: '[]' }),
    );
    expect((await create({ data: { text: 'é'.repeat(512 * 1024) } })).kind).toBe('ConfigMap');
  });
});

describe('an immutable ConfigMap', () => {
  const WHEN_SET = 'Forbidden: field is immutable when `immutable` is set';

  async function immutable() {
    const api = configMaps();
    await api.create({ metadata: { name: 'a' }, data: { k: 'v' }, immutable: true });
    return api;
  }

  test('rejects changes of its data', async () => {
    const api = await immutable();
    await expect(api.patch('a', mergePatch({ data: { k: 'new' }, binaryData: { b: 'dg==' } }))).rejects.toMatchObject(
      invalid({ field: 'data', message: WHEN_SET }, { field: 'binaryData', message: WHEN_SET }),
    );
  });

  test('cannot become mutable', async () => {
    const api = await immutable();
    for (const change of [false, null]) {
      await expect(api.patch('a', mergePatch({ immutable: change }))).rejects.toMatchObject(
        invalid({ field: 'immutable', message: WHEN_SET }),
      );
    }
  });

  test('allows changes of its labels', async () => {
    const api = await immutable();
    const stored = await api.patch('a', mergePatch({ metadata: { labels: { app: 'web' } } }));
    expect(stored.metadata.labels).toEqual({ app: 'web' });
  });

  test('may become immutable by an update', async () => {
    const api = configMaps();
    await api.create({ metadata: { name: 'a' }, immutable: false });
    expect((await api.patch('a', mergePatch({ immutable: true }))).immutable).toBe(true);
  });
});
