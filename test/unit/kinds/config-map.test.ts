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
  test.each(['k', 'my.key', 'MY_KEY', '-', '_', '...a'.slice(3), 'x'.repeat(253)])(
    'accepts the ConfigMap key %s',
    async (key) => {
      expect((await create({ data: { [key]: 'v' } })).data).toEqual({ [key]: 'v' });
    },
  );

  test.each([
    ['', "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"],
    ['a b', "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"],
    ['a/b', "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"],
    ['.', "must not be '.'"],
    ['..', "must not be '..'"],
    ['..a', "must not start with '..'"],
    ['x'.repeat(254), 'must be no more than 253 characters'],
  ])('rejects the ConfigMap key "%s"', async (key, why) => {
    const message = expect.stringContaining(`Invalid value: ${JSON.stringify(key)}: ${why}`) as string;
    await expect(create({ data: { [key]: 'v' } })).rejects.toMatchObject(invalid({ field: `data[${key}]`, message }));
  });

  test('applies the same rule to keys of data and binaryData', async () => {
    await expect(create({ binaryData: { 'a b': '' } })).rejects.toMatchObject(invalid({ field: 'binaryData[a b]' }));
  });

  test('rejects a key that is in both data and binaryData', async () => {
    await expect(create({ data: { k: 'v' }, binaryData: { k: 'dg==' } })).rejects.toMatchObject(
      invalid({ field: 'data[k]', message: 'Invalid value: "k": duplicate of key present in binaryData' }),
    );
  });

  test('reports all invalid ConfigMap keys', async () => {
    await expect(create({ data: { 'a b': '', '..': '' } })).rejects.toMatchObject(
      invalid({ field: 'data[..]' }, { field: 'data[a b]' }),
    );
  });
});

describe('ConfigMap values', () => {
  test('stores binaryData as canonical base64', async () => {
    expect((await create({ binaryData: { k: 'YWJj\nZA==' } })).binaryData).toEqual({ k: 'YWJjZA==' });
  });

  test('rejects binaryData that is not base64', async () => {
    await expect(create({ binaryData: { k: '!' } })).rejects.toMatchObject({
      reason: 'BadRequest',
      message: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: illegal base64 data at input byte 0',
    });
  });

  test('stores null values of a ConfigMap as empty strings', async () => {
    expect((await create({ data: { k: null as never } })).data).toEqual({ k: '' });
  });

  test('limits text and binary values of a ConfigMap together to 1 MiB', async () => {
    const half = 512 * 1024;
    const binary = Buffer.alloc(half).toString('base64');
    expect((await create({ data: { text: 'x'.repeat(half) }, binaryData: { bytes: binary } })).kind).toBe('ConfigMap');
    await expect(create({ data: { text: 'x'.repeat(half + 1) }, binaryData: { bytes: binary } })).rejects.toMatchObject(
      invalid({ field: '[]', message: 'Too long: may not be more than 1048576 bytes' }),
    );
  });

  test('measures ConfigMap values in bytes, not in characters', async () => {
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

  test('does not allow an immutable ConfigMap to become mutable', async () => {
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

  test('allows a ConfigMap to become immutable by an update', async () => {
    const api = configMaps();
    await api.create({ metadata: { name: 'a' }, immutable: false });
    expect((await api.patch('a', mergePatch({ immutable: true }))).immutable).toBe(true);
  });
});
