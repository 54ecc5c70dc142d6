/** Validation of Secrets. */
import { mergePatch } from 'orchplane';
import { Secret, type SecretInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const base64 = (text: string) => btoa(text);

function withWarnings() {
  const warnings: string[] = [];
  return { warnings, secrets: testCluster({ client: { onWarning: (text) => warnings.push(text) } }).api(Secret) };
}

const create = (input: Omit<SecretInput, 'metadata'>, annotations: Record<string, string> = {}) =>
  withWarnings().secrets.create({ metadata: { name: 'a', annotations }, ...input });

const invalid = (...causes: { field: string; message?: string }[]) => ({
  reason: 'Invalid',
  status: { details: { causes } },
});

describe('stringData of a Secret', () => {
  test('stores stringData of a Secret as data and removes it', async () => {
    const stored = await create({ stringData: { user: 'ann' } });
    expect(stored.data).toEqual({ user: base64('ann') });
    expect(stored).not.toHaveProperty('stringData');
  });

  test('overrides data, and keeps other keys', async () => {
    const stored = await create({ data: { user: base64('bob'), more: base64('x') }, stringData: { user: 'ann' } });
    expect(stored.data).toEqual({ more: base64('x'), user: base64('ann') });
  });

  test('merges stringData of a patch into the stored data', async () => {
    const { secrets } = withWarnings();
    await secrets.create({ metadata: { name: 'a' }, stringData: { user: 'ann' } });
    const stored = await secrets.patch('a', mergePatch({ stringData: { more: 'x' } }));
    expect(stored.data).toEqual({ more: base64('x'), user: base64('ann') });
  });

  test('allows stringData of a Secret to contain any text', async () => {
    const stored = await create({ stringData: { text: 'grüße 👋' } });
    expect(Buffer.from(stored.data?.['text'] ?? '', 'base64').toString()).toBe('grüße 👋');
  });

  test('validates stringData of a Secret by the resulting data keys', async () => {
    await expect(create({ stringData: { 'not ok': 'x' } })).rejects.toMatchObject(invalid({ field: 'data[not ok]' }));
  });
});

describe('the type of a Secret', () => {
  test('sets the type of a Secret to Opaque by default', async () => {
    expect((await create({})).type).toBe('Opaque');
    expect((await create({ type: '' })).type).toBe('Opaque');
    expect((await create({ type: 'example.com/token' })).type).toBe('example.com/token');
  });

  test('rejects a change of the type of a Secret', async () => {
    const { secrets } = withWarnings();
    await secrets.create({ metadata: { name: 'a' } });
    await expect(secrets.patch('a', mergePatch({ type: 'example.com/token' }))).rejects.toMatchObject(
      invalid({ field: 'type', message: 'Invalid value: "example.com/token": field is immutable' }),
    );
  });

  test('supports a field selector', async () => {
    const { secrets } = withWarnings();
    await secrets.create({ metadata: { name: 'a' } });
    await secrets.create({ metadata: { name: 'b' }, type: 'example.com/token' });
    const { items } = await secrets.list({ fields: { type: 'example.com/token' } });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['b']);
  });
});

describe('a well-known Secret type', () => {
  test('requires the account annotation of a service account token Secret', async () => {
    const type = 'orch.io/service-account-token';
    const field = 'metadata.annotations[orch.io/service-account.name]';
    await expect(create({ type })).rejects.toMatchObject(invalid({ field, message: 'Required value' }));
    await expect(create({ type }, { 'orch.io/service-account.name': '' })).rejects.toMatchObject(invalid({ field }));
    expect((await create({ type }, { 'orch.io/service-account.name': 'robot' })).type).toBe(type);
  });

  test.each([
    ['orch.io/dockercfg', '.dockercfg'],
    ['orch.io/dockerconfigjson', '.dockerconfigjson'],
  ])('requires a JSON object in a %s Secret and does not print its content', async (type, key) => {
    const field = `data[${key}]`;
    await expect(create({ type })).rejects.toMatchObject(invalid({ field, message: 'Required value' }));
    await expect(create({ type, stringData: { [key]: 'password' } })).rejects.toMatchObject(
      invalid({
        field,
        message: 'Invalid value: "<secret contents redacted>": invalid character \'p\' looking for beginning of value',
      }),
    );
    await expect(create({ type, stringData: { [key]: '["password"]' } })).rejects.toMatchObject(
      invalid({
        field,
        message:
          'Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      }),
    );
    expect((await create({ type, stringData: { [key]: '{}' } })).type).toBe(type);
  });

  test('names the first byte of a docker configuration that is no text', async () => {
    const secret = { type: 'orch.io/dockercfg', data: { '.dockercfg': btoa('{\xb6') } };
    const problem = "invalid character '¶' looking for beginning of object key string";
    const message = `Invalid value: "<secret contents redacted>": ${problem}`;
    await expect(create(secret)).rejects.toMatchObject(invalid({ field: 'data[.dockercfg]', message }));
  });

  test('requires a username or a password of a basic auth Secret', async () => {
    const type = 'orch.io/basic-auth';
    await expect(create({ type })).rejects.toMatchObject(
      invalid({ field: 'data[username]' }, { field: 'data[password]' }),
    );
    for (const key of ['username', 'password']) {
      expect((await create({ type, stringData: { [key]: '' } })).type).toBe(type);
    }
  });

  test('requires a non-empty private key of an SSH auth Secret', async () => {
    const type = 'orch.io/ssh-auth';
    const missing = invalid({ field: 'data[ssh-privatekey]', message: 'Required value' });
    await expect(create({ type })).rejects.toMatchObject(missing);
    await expect(create({ type, stringData: { 'ssh-privatekey': '' } })).rejects.toMatchObject(missing);
    expect((await create({ type, stringData: { 'ssh-privatekey': 'x' } })).type).toBe(type);
  });

  test('requires a certificate and a key of a TLS Secret, which may be empty', async () => {
    const type = 'orch.io/tls';
    await expect(create({ type })).rejects.toMatchObject(
      invalid({ field: 'data[tls.crt]' }, { field: 'data[tls.key]' }),
    );
    expect((await create({ type, stringData: { 'tls.crt': '', 'tls.key': '' } })).type).toBe(type);
  });

  test('stores an invalid certificate of a TLS Secret with a warning', async () => {
    const { secrets, warnings } = withWarnings();
    const stringData = { 'tls.crt': 'not a certificate', 'tls.key': '' };
    await secrets.create({ metadata: { name: 'a' }, type: 'orch.io/tls', stringData });
    expect(warnings).toEqual(['tls: failed to find any PEM data in certificate input']);
  });

  test('has another name in the kubernetes dialect', async () => {
    const secrets = testCluster({ dialect: 'kubernetes' }).api(Secret);
    await expect(secrets.create({ metadata: { name: 'a' }, type: 'kubernetes.io/ssh-auth' })).rejects.toMatchObject(
      invalid({ field: 'data[ssh-privatekey]' }),
    );
    expect((await secrets.create({ metadata: { name: 'a' }, type: 'orch.io/ssh-auth' })).type).toBe('orch.io/ssh-auth');
  });
});

describe('all values of a Secret', () => {
  test('limits all values of a Secret together to 1 MiB', async () => {
    const data = { k: Buffer.alloc(1024 * 1024 + 1).toString('base64') };
    await expect(create({ data })).rejects.toMatchObject(
      invalid({ field: 'data', message: 'Too long: may not be more than 1048576 bytes' }),
    );
    expect((await create({ data: { k: Buffer.alloc(1024 * 1024).toString('base64') } })).kind).toBe('Secret');
  });
});

describe('an immutable Secret', () => {
  test('keeps its data and stays immutable', async () => {
    const { secrets } = withWarnings();
    await secrets.create({ metadata: { name: 'a' }, stringData: { k: 'v' }, immutable: true });
    await expect(secrets.patch('a', mergePatch({ stringData: { k: 'new' }, immutable: null }))).rejects.toMatchObject(
      invalid({ field: 'immutable' }, { field: 'data' }),
    );
  });
});
