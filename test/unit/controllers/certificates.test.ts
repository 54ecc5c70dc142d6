/** CertificateSigningRequest controllers: approval, signing and cleanup. */
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import {
  certificateApproval,
  certificateCleaning,
  certificateSigning,
  controllers,
  createCertificateAuthority,
} from 'orchplane/controllers';
import { CertificateSigningRequest, ClusterRole, ClusterRoleBinding } from 'orchplane/kinds';
import { type TestCluster, type TestClusterOptions, testCluster } from 'orchplane/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { signers } from '../../../src/controllers/certificates/request.js';
import { orchDialect } from '../../../src/meta/dialect.js';
import { type Keys, type RequestParts, requestFor } from './certificate-requests.js';

let cluster: TestCluster;
afterEach(async () => {
  await cluster.close();
});

const HOUR = 3_600_000;
const CLIENT = ['digital signature', 'key encipherment', 'client auth'];
const SERVING = ['digital signature', 'key encipherment', 'server auth'];
const NODE = { commonName: 'system:node:n1', organizations: ['system:nodes'] };

async function request(
  signer: string,
  usages: readonly string[],
  parts: RequestParts,
  more: object = {},
): Promise<string> {
  const { pem } = await requestFor(parts);
  await cluster.api(CertificateSigningRequest).create({
    metadata: { name: 'r' },
    spec: { request: btoa(pem), signerName: signer.includes('/') ? signer : `orch.io/${signer}`, usages, ...more },
  } as never);
  return pem;
}

async function response(type: 'Approved' | 'Denied'): Promise<void> {
  await cluster
    .api(CertificateSigningRequest)
    .subresource('approval')
    .edit('r', (draft) => {
      draft.status = { conditions: [{ type, status: 'True', reason: 'Test', message: 'm' }] } as never;
    });
  await cluster.settle();
}

const found = () => cluster.api(CertificateSigningRequest).find('r');
const conditions = async () => (await found())?.status.conditions ?? [];
const issued = async () => {
  const text = (await found())?.status.certificate;
  return text === undefined ? undefined : new X509Certificate(atob(text));
};

describe('certificate signing controller', () => {
  const start = async (options: Parameters<typeof certificateSigning>[0] = {}) => {
    cluster = testCluster({ controllers: controllers([certificateSigning(options)]) });
    await cluster.settle();
  };

  test.each<Keys>(['P-256', 'P-384', 'RSA', 'Ed25519'])('signs an approved request with a %s key', async (keys) => {
    const authority = await createCertificateAuthority({ commonName: 'test-ca' });
    await start({ authority });
    await request('kube-apiserver-client', CLIENT, { commonName: 'alice', organizations: ['dev', 'ops'], keys });
    await cluster.settle();
    expect(await issued()).toBeUndefined();
    await response('Approved');
    const certificate = await issued();
    const root = new X509Certificate(authority.certificate);
    expect(certificate?.verify(root.publicKey)).toBe(true);
    expect(certificate?.checkIssued(root)).toBe(true);
    expect(certificate?.subject).toBe('O=dev + O=ops\nCN=alice');
    expect(certificate?.issuer).toBe('CN=test-ca');
    expect(certificate?.ca).toBe(false);
    expect(certificate?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    const { extensions } = new x509.X509Certificate(certificate?.raw ?? new Uint8Array());
    const critical = extensions.filter((extension) => extension.critical).map(({ type }) => type);
    // Key usage and basic constraints.
    expect(critical).toEqual(['2.5.29.15', '2.5.29.19']);
    expect(root.ca).toBe(true);
    expect(root.verify(root.publicKey)).toBe(true);
  });

  test('keeps the subject alternative names and the public key of the request', async () => {
    await start();
    const parts = { ...NODE, dnsNames: ['n1.example.com'], ipAddresses: ['10.0.0.1'] };
    const { pem, publicKey } = await requestFor(parts);
    await cluster.api(CertificateSigningRequest).create({
      metadata: { name: 'r' },
      spec: { request: btoa(pem), signerName: 'orch.io/kubelet-serving', usages: SERVING },
    } as never);
    await response('Approved');
    const certificate = await issued();
    expect(certificate?.subjectAltName).toBe('DNS:n1.example.com, IP Address:10.0.0.1');
    const expected = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
    expect(certificate?.publicKey.equals(expected)).toBe(true);
  });

  test('writes only known attributes of the subject into the certificate, in a fixed order', async () => {
    await start();
    const attributes = { '1.3.6.1.4.1.57683.2': 'uid-of-another-user', '2.5.4.42': 'Alice', '2.5.4.7': 'Zürich' };
    await request('kube-apiserver-client', CLIENT, { commonName: 'alice', organizations: ['ops', 'dev'], attributes });
    await response('Approved');
    const certificate = await issued();
    expect(certificate?.subject).toBe('O=dev + O=ops\nL=Zürich\nCN=alice');
  });

  test('signs the request that admission has checked, also after a byte order mark', async () => {
    await start();
    const { pem: hidden } = await requestFor({ commonName: 'root', organizations: ['system:masters'] });
    const { pem: shown } = await requestFor({ commonName: 'alice', organizations: ['dev'] });
    await cluster.api(CertificateSigningRequest).create({
      metadata: { name: 'r' },
      spec: {
        request: btoa(`\u00ef\u00bb\u00bf${hidden}\n${shown}`),
        signerName: 'orch.io/kube-apiserver-client',
        usages: CLIENT,
      },
    } as never);
    await response('Approved');
    expect((await issued())?.subject).toBe('O=dev\nCN=alice');
  });

  test.each([
    ['a year by default', undefined, 365 * 24 * HOUR - 5 * 60_000],
    ['the requested duration', 24 * 3600, 24 * HOUR - 5 * 60_000],
    ['exactly an hour when an hour is requested', 3600, HOUR],
    ['at least ten minutes', 600, 600_000],
    ['at most a year', 2_000_000_000, 365 * 24 * HOUR - 5 * 60_000],
  ])('issues a certificate that is valid for %s', async (_, expirationSeconds, validMs) => {
    await start();
    await request('kube-apiserver-client', CLIENT, { commonName: 'alice' }, { expirationSeconds });
    await response('Approved');
    const now = cluster.clock.now();
    const certificate = await issued();
    expect(Date.parse(certificate?.validFrom ?? '')).toBe(now - 5 * 60_000);
    expect(Date.parse(certificate?.validTo ?? '')).toBe(now + validMs);
  });

  test('never issues a certificate that outlives its authority', async () => {
    const authority = await createCertificateAuthority();
    const end = 2_000_000_000_000;
    await start({ authority: { ...authority, notAfter: end } });
    await cluster.clock.advance(end - HOUR - cluster.clock.now());
    await request('kube-apiserver-client', CLIENT, { commonName: 'alice' });
    await response('Approved');
    expect(Date.parse((await issued())?.validTo ?? '')).toBe(end);
    await cluster.api(CertificateSigningRequest).delete('r');
    await cluster.clock.advance(HOUR);
    await request('kube-apiserver-client', CLIENT, { commonName: 'alice' });
    await response('Approved');
    expect(await issued()).toBeUndefined();
  });

  const serving = { ...NODE, dnsNames: ['n1'] };
  test.each<[string, string, readonly string[], RequestParts, string]>([
    [
      'a usage that is not allowed',
      'kube-apiserver-client',
      [...CLIENT, 'server auth'],
      { commonName: 'a' },
      'invalid usage for client certificate: server auth',
    ],
    [
      'no client usage',
      'kube-apiserver-client',
      ['digital signature'],
      { commonName: 'a' },
      'missing required usage for client certificate: client auth',
    ],
    [
      'an organization other than system:nodes',
      'kube-apiserver-client-kubelet',
      CLIENT,
      { commonName: 'a', organizations: ['dev'] },
      'subject organization is not system:nodes',
    ],
    [
      'a common name that is not a node name',
      'kube-apiserver-client-kubelet',
      CLIENT,
      { ...NODE, commonName: 'n1' },
      'subject common name does not begin with system:node:',
    ],
    [
      'a DNS name',
      'kube-apiserver-client-kubelet',
      CLIENT,
      { ...NODE, dnsNames: ['a'] },
      'DNS subjectAltNames are not allowed',
    ],
    [
      'an IP address',
      'kube-apiserver-client-kubelet',
      CLIENT,
      { ...NODE, ipAddresses: ['1.2.3.4'] },
      'IP subjectAltNames are not allowed',
    ],
    [
      'an email address',
      'kube-apiserver-client-kubelet',
      CLIENT,
      { ...NODE, emailAddresses: ['a@b'] },
      'Email subjectAltNames are not allowed',
    ],
    [
      'a URI',
      'kube-apiserver-client-kubelet',
      CLIENT,
      { ...NODE, uris: ['x:y'] },
      'URI subjectAltNames are not allowed',
    ],
    [
      'server usages for a client certificate',
      'kube-apiserver-client-kubelet',
      SERVING,
      NODE,
      'usages did not match [client auth digital signature key encipherment]',
    ],
    ['no serving name', 'kubelet-serving', SERVING, NODE, 'DNS or IP subjectAltName is required'],
    [
      'an email address for a serving certificate',
      'kubelet-serving',
      SERVING,
      { ...serving, emailAddresses: ['a@b'] },
      'Email subjectAltNames are not allowed',
    ],
    [
      'a URI for a serving certificate',
      'kubelet-serving',
      SERVING,
      { ...serving, uris: ['x:y'] },
      'URI subjectAltNames are not allowed',
    ],
    [
      'client usages for a serving certificate',
      'kubelet-serving',
      CLIENT,
      serving,
      'usages did not match [digital signature key encipherment server auth]',
    ],
    [
      'a serving name that is not a node',
      'kubelet-serving',
      SERVING,
      { ...serving, commonName: 'n1' },
      'subject common name does not begin with system:node:',
    ],
  ])('fails a request with %s', async (_, signer, usages, parts, message) => {
    await start();
    await request(signer, usages, parts);
    await response('Approved');
    const [, failed] = await conditions();
    expect(failed).toMatchObject({ type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message });
    expect(await issued()).toBeUndefined();
    const { resourceVersion } = (await found())?.metadata ?? {};
    await cluster.clock.advance(60_000);
    expect((await found())?.metadata.resourceVersion).toBe(resourceVersion);
  });

  test.each([
    ['kube-apiserver-client-kubelet', ['digital signature', 'client auth'], NODE],
    ['kubelet-serving', ['digital signature', 'server auth'], serving],
  ])('signs a valid request for the %s signer', async (signer, usages, parts) => {
    await start();
    await request(signer, usages, parts);
    await response('Approved');
    expect((await issued())?.subject).toContain(`CN=${parts.commonName}`);
  });

  test('accepts any request for the legacy-unknown signer', () => {
    expect(signers(orchDialect).get('orch.io/legacy-unknown')?.({} as never, ['any'])).toBeUndefined();
  });

  test('ignores requests for other signers and denied requests', async () => {
    await start();
    await request('example.com/signer', CLIENT, { commonName: 'a' });
    await response('Approved');
    expect((await found())?.status.certificate).toBeUndefined();
    await cluster.api(CertificateSigningRequest).delete('r');
    await request('kube-apiserver-client', CLIENT, { commonName: 'a' });
    await response('Denied');
    expect((await found())?.status.certificate).toBeUndefined();
  });

  test('never signs a request with a wrong signature', async () => {
    await start();
    await request('kube-apiserver-client', CLIENT, { commonName: 'a', isForged: true });
    await response('Approved');
    expect((await found())?.status.certificate).toBeUndefined();
    expect(await conditions()).toHaveLength(1);
  });

  test('signs with an existing authority', async () => {
    const keys = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    );
    const secret = createPrivateKey({
      key: Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)),
      format: 'der',
      type: 'pkcs8',
    });
    const spki = new Uint8Array(await crypto.subtle.exportKey('spki', keys.publicKey));
    const first = await createCertificateAuthority({ commonName: 'root' });
    const { pem } = await requestFor({ commonName: 'sub' });
    expect(pem).toContain('REQUEST');
    // The authority's certificate: for the new key, signed by another key.
    const certificate = await first.issue({
      subject: Buffer.from('300e310c300a06035504030c03737562', 'hex'),
      publicKey: spki,
      notBefore: Date.now() - HOUR,
      notAfter: Date.now() + 20 * 365 * 24 * HOUR,
      serial: '01',
    });
    const privateKey = secret.export({ format: 'pem', type: 'pkcs8' }) as string;
    const authority = await createCertificateAuthority({ from: { certificate, privateKey } });
    await start({ authority });
    await request('kube-apiserver-client', CLIENT, { commonName: 'alice' });
    await response('Approved');
    const leaf = await issued();
    expect(leaf?.issuer).toBe('CN=sub');
    expect(leaf?.verify(createPublicKey(secret))).toBe(true);
  });
});

describe('certificate approval controller', () => {
  const options = (): TestClusterOptions => ({ controllers: controllers([certificateApproval()]) });
  const CSRS = 'certificatesigningrequests';

  async function allow(user: string, ...resources: string[]): Promise<void> {
    const name = resources.join('-').replaceAll('/', '-');
    const rules = [{ apiGroups: ['certificates.orch.io'], resources, verbs: ['create'] }];
    const apiGroup = 'rbac.authorization.orch.io';
    await cluster.api(ClusterRole).create({ metadata: { name }, rules });
    await cluster.api(ClusterRoleBinding).create({
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    });
  }

  async function askAs(user: string, may: readonly string[], parts: RequestParts = NODE): Promise<void> {
    await allow(user, CSRS, ...may);
    const { pem } = await requestFor(parts);
    const signerName = 'orch.io/kube-apiserver-client-kubelet';
    await cluster
      .with({ as: { user, groups: ['system:authenticated'] } })
      .api(CertificateSigningRequest)
      .create({ metadata: { name: 'r' }, spec: { request: btoa(pem), signerName, usages: CLIENT } } as never);
    await cluster.settle();
  }

  test('approves requests of users who may create node certificates', async () => {
    cluster = testCluster(options());
    await askAs('bootstrapper', [`${CSRS}/nodeclient`]);
    expect(await conditions()).toMatchObject([
      {
        type: 'Approved',
        status: 'True',
        reason: 'AutoApproved',
        message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
      },
    ]);
  });

  test('approves the renewal of a node’s own client certificate', async () => {
    cluster = testCluster(options());
    await askAs('system:node:n1', [`${CSRS}/selfnodeclient`]);
    expect((await conditions())[0]?.message).toBe(
      'Auto approving self kubelet client certificate after SubjectAccessReview.',
    );
  });

  test('retries requests of users without permission until their roles change', async () => {
    cluster = testCluster(options());
    await askAs('bootstrapper', [`${CSRS}/selfnodeclient`]);
    expect(await conditions()).toEqual([]);
    await allow('bootstrapper', `${CSRS}/nodeclient`);
    await cluster.clock.advance(60_000);
    expect((await conditions())[0]?.reason).toBe('AutoApproved');
  });

  test('leaves requests that are not node client certificates to an administrator', async () => {
    cluster = testCluster(options());
    await askAs('bootstrapper', [`${CSRS}/nodeclient`], { commonName: 'alice' });
    expect(await conditions()).toEqual([]);
  });
});

describe('certificate cleanup controller', () => {
  const start = async () => {
    cluster = testCluster({ controllers: controllers([certificateSigning(), certificateCleaning()]) });
    await cluster.settle();
  };

  test('deletes a request without an approval decision after a day', async () => {
    await start();
    await request('example.com/signer', CLIENT, { commonName: 'a' });
    await cluster.clock.advance(24 * HOUR);
    expect(await found()).toBeDefined();
    await cluster.clock.advance(1_000);
    expect(await found()).toBeUndefined();
  });

  test.each(['Approved', 'Denied'] as const)('deletes an %s request after an hour', async (type) => {
    await start();
    await request('kube-apiserver-client', CLIENT, { commonName: 'a' });
    await response(type);
    await cluster.clock.advance(HOUR);
    expect(await found()).toBeDefined();
    await cluster.clock.advance(1_000);
    expect(await found()).toBeUndefined();
  });

  test('deletes a failed request after an hour', async () => {
    await start();
    await request('kube-apiserver-client', ['any'], { commonName: 'a' });
    await response('Approved');
    await cluster.clock.advance(HOUR + 1_000);
    expect(await found()).toBeUndefined();
  });

  test('deletes an issued request when its certificate expires before the hour is over', async () => {
    await start();
    await request('kube-apiserver-client', CLIENT, { commonName: 'a' }, { expirationSeconds: 600 });
    await response('Approved');
    await cluster.clock.advance(600_000);
    expect(await found()).toBeDefined();
    await cluster.clock.advance(1_000);
    expect(await found()).toBeUndefined();
  });

  test('keeps an approved request that has no certificate yet', async () => {
    await start();
    await request('example.com/signer', CLIENT, { commonName: 'a' });
    await response('Approved');
    await cluster.clock.advance(100 * HOUR);
    expect(await found()).toBeDefined();
  });
});
