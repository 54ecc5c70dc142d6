/** docs/specification.md, R1: ClusterTrustBundle. */
import { rbac } from 'orchplane';
import { ClusterTrustBundle } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { CA, LEAF, OTHER_CA } from '../unit/kinds/certificates/pem.js';
import { fieldsOf, openService, pathOf } from './service.js';

const SIGNER = 'example.com/signer';
const NAME = 'example.com:signer:one';
const bundle = (trustBundle: string, name = 'a') => ({ metadata: { name }, spec: { trustBundle } });
const signed = (name = NAME) => ({ metadata: { name }, spec: { signerName: SIGNER, trustBundle: CA } });

function withUsers() {
  const user = (name: string) => ({ user: name, groups: ['system:authenticated'] });
  const account = {
    user: 'system:serviceaccount:default:s',
    groups: ['system:serviceaccounts', 'system:authenticated'],
  };
  const admin = { user: 'admin', groups: ['system:masters', 'system:authenticated'] };
  return openService({ authorizer: rbac() }, { tokens: { alice: user('alice'), account, admin } });
}

describe('ClusterTrustBundle', () => {
  test('R1.1: has a required trustBundle and an optional signerName', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'ClusterTrustBundle', 'ClusterTrustBundleSpec')).toEqual({
      trustBundle: 'string!',
      signerName: 'string',
    });
    expect((await service.create('ClusterTrustBundle', bundle(CA))).code).toBe(201);
    const missing = await service.create('ClusterTrustBundle', { metadata: { name: 'b' }, spec: {} });
    expect(missing).toMatchObject({ code: 422, causes: [expect.stringContaining('spec.trustBundle: ')] });
  });

  test.each([
    ['text that is not PEM', 'certificate'],
    ['a block of another type', CA.replaceAll('CERTIFICATE', 'PUBLIC KEY')],
    ['a block that is not an X.509 certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('R1.2: rejects a trustBundle with %s', async (_, trustBundle) => {
    expect((await openService().create('ClusterTrustBundle', bundle(trustBundle))).code).toBe(422);
  });

  test('R1.3: rejects a certificate without the CA flag', async () => {
    expect((await openService().create('ClusterTrustBundle', bundle(LEAF))).code).toBe(422);
  });

  test('R1.4: rejects duplicate certificates and block headers', async () => {
    const service = openService();
    expect((await service.create('ClusterTrustBundle', bundle(CA + OTHER_CA))).code).toBe(201);
    expect((await service.create('ClusterTrustBundle', bundle(CA + CA, 'b'))).code).toBe(422);
    const withHeader = CA.replace('-\n', '-\nkey: value\n\n');
    expect((await service.create('ClusterTrustBundle', bundle(withHeader, 'c'))).code).toBe(422);
  });

  test('R1.5: a bundle of a signer requires the permission attest on the signer', async () => {
    const { send } = withUsers();
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    const role = (name: string, rules: object[]) => ({ metadata: { name }, rules });
    const binding = {
      metadata: { name: 'alice' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'alice' },
      subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'alice' }],
    };
    const bundles = { apiGroups: ['certificates.orch.io'], resources: ['clustertrustbundles'], verbs: ['*'] };
    await send('POST', pathOf('ClusterRole'), role('alice', [bundles]), as('admin'));
    await send('POST', pathOf('ClusterRoleBinding'), binding, as('admin'));
    expect((await send('POST', pathOf('ClusterTrustBundle'), bundle(CA), as('alice'))).code).toBe(201);
    expect((await send('POST', pathOf('ClusterTrustBundle'), signed(), as('alice'))).code).toBe(403);
    const attest = {
      apiGroups: ['certificates.orch.io'],
      resources: ['signers'],
      resourceNames: [SIGNER],
      verbs: ['attest'],
    };
    await send('PUT', pathOf('ClusterRole', 'alice'), role('alice', [bundles, attest]), as('admin'));
    expect((await send('POST', pathOf('ClusterTrustBundle'), signed(), as('alice'))).code).toBe(201);
  });

  test('R1.6: the name of a bundle starts with its signer, and only then', async () => {
    const service = openService();
    expect((await service.create('ClusterTrustBundle', signed())).code).toBe(201);
    expect((await service.create('ClusterTrustBundle', signed('other'))).causes).toEqual(['metadata.name: Invalid']);
    const unsigned = await service.create('ClusterTrustBundle', bundle(CA, 'example.com:signer:two'));
    expect(unsigned.causes).toEqual(['metadata.name: Invalid']);
  });

  test.each(['alice', 'account'])('R1.7: %s reads ClusterTrustBundles without further permissions', async (token) => {
    const { send } = withUsers();
    const as = (name: string) => ({ authorization: `Bearer ${name}` });
    await send('POST', pathOf('ClusterTrustBundle'), bundle(CA), as('admin'));
    expect((await send('GET', pathOf('ClusterTrustBundle', 'a'), undefined, as(token))).code).toBe(200);
    expect((await send('GET', pathOf('ClusterTrustBundle'), undefined, as(token))).code).toBe(200);
    expect((await send('DELETE', pathOf('ClusterTrustBundle', 'a'), undefined, as(token))).code).toBe(403);
  });

  test('R1.8, R1.9: a signer has several bundles, which a field selector finds', async () => {
    const service = openService();
    await service.create('ClusterTrustBundle', signed());
    await service.create('ClusterTrustBundle', signed('example.com:signer:two'));
    await service.create('ClusterTrustBundle', bundle(CA));
    const { body } = await service.list('ClusterTrustBundle', `?fieldSelector=spec.signerName=${SIGNER}`);
    const names = body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    expect(names).toEqual([NAME, 'example.com:signer:two']);
    const watch = service.cluster.api(ClusterTrustBundle).watch({ fields: `spec.signerName=${SIGNER}` });
    await service.create('ClusterTrustBundle', bundle(CA, 'b'));
    await service.create('ClusterTrustBundle', signed('example.com:signer:zzz'));
    const seen: string[] = [];
    for await (const event of watch) {
      if (event.type === 'ADDED') seen.push(event.object.metadata.name);
      if (seen.at(-1)?.endsWith('zzz')) break;
    }
    expect(seen.every((name) => name.startsWith('example.com:signer:'))).toBe(true);
  });
});
