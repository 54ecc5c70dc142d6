/** Validation of ClusterTrustBundles and CertificateSigningRequests. */
import { allowAll, mergePatch } from 'orchplane';
import { CertificateSigningRequest, ClusterTrustBundle } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { CertificateSigningRequestSpecInput } from '../../../../src/kinds/generated/certificates-v1.js';
import { rejectionCauses } from '../rejections.js';
import { CA, LEAF, OTHER_CA, REQUEST } from './pem.js';

describe('a ClusterTrustBundle', () => {
  const bundles = () => {
    const cluster = testCluster({ featureGates: { ClusterTrustBundle: true } });
    cluster.install(ClusterTrustBundle);
    return cluster.api(ClusterTrustBundle);
  };
  const create = (trustBundle: string, name = 'a', signerName = '') =>
    bundles().create({ metadata: { name }, spec: { signerName, trustBundle } });
  const block = (type: string, body: string) => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
  const entry = (detail: string) => `spec.trustBundle: Invalid value: "<value omitted>": ${detail}`;

  test.each<[string, string, string[]]>([
    ['no content', '', [entry('at least one trust anchor must be provided')]],
    ['a private key', block('KEY', 'AAAA'), [entry('entry 0 has bad block type: KEY')]],
    ['PEM headers', CA.replace('-\n', '-\nk: v\n\n'), [entry('entry 0 has PEM block headers')]],
    ['data that is not a certificate', CA + block('CERTIFICATE', 'AAAA'), [entry('entry 1 does not parse as X.509')]],
    ['a leaf certificate', LEAF, [entry('entry 0 does not have the CA bit set')]],
    ['a duplicate certificate', CA + OTHER_CA + CA, [entry('duplicate trust anchor (indices [0 2])')]],
    [
      'content above the size limit',
      'x'.repeat(1024 * 1024 + 1),
      ['spec.trustBundle: Too long: may not be more than 1048576 bytes'],
    ],
  ])('rejects a ClusterTrustBundle with %s', async (_, bundle, causes) => {
    expect(await rejectionCauses(create(bundle))).toEqual(causes);
  });

  test.each<[string, string, string]>([
    [
      'a:b',
      '',
      'metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name',
    ],
    [
      'a',
      'example.com/s',
      'metadata.name: Invalid value: "a": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:',
    ],
    [
      's:a',
      's',
      `spec.signerName: Invalid value: "s": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
    ],
    ['a/b', '', 'metadata.name: Invalid value: "a/b": a lowercase RFC 1123 subdomain'],
  ])('rejects a ClusterTrustBundle with the name %s for the signer "%s"', async (name, signerName, cause) => {
    const causes = await rejectionCauses(create(CA, name, signerName));
    expect(causes).toHaveLength(1);
    expect(causes[0]).toContain(cause);
  });

  test('has an immutable signer, and can be selected by it', async () => {
    const api = bundles();
    const metadata = { name: 'example.com:s:a' };
    await api.create({ metadata, spec: { signerName: 'example.com/s', trustBundle: CA } });
    expect((await api.list({ fields: 'spec.signerName=example.com/s' })).items).toHaveLength(1);
    expect((await api.list({ fields: 'spec.signerName=' })).items).toHaveLength(0);
    const patch = api.patch(metadata.name, mergePatch({ spec: { signerName: 'example.com/t' } }));
    expect(await rejectionCauses(patch)).toEqual([
      'metadata.name: Invalid value: "example.com:s:a": ClusterTrustBundle for signerName example.com/t must be named with prefix example.com:t:',
      'spec.signerName: Invalid value: "example.com/t": field is immutable',
    ]);
  });
});

describe('a CertificateSigningRequest', () => {
  const user = { user: 'jane', uid: '7', groups: ['devs'], extra: { k: ['v'] } };
  const spec: CertificateSigningRequestSpecInput = {
    request: btoa(REQUEST),
    signerName: 'example.com/s',
    usages: ['client auth'],
  };
  const requests = () => testCluster({ authorizer: allowAll() }).with({ as: user }).api(CertificateSigningRequest);
  const create = (more: Partial<CertificateSigningRequestSpecInput>) =>
    requests().create({ metadata: { name: 'a' }, spec: { ...spec, ...more } });

  test('contains the requesting user, regardless of what the client sends', async () => {
    const created = await create({ username: 'root', groups: ['system:masters'], uid: '0', extra: { x: ['y'] } });
    expect(created.spec).toEqual({
      ...spec,
      username: 'jane',
      uid: '7',
      groups: ['devs', 'system:authenticated'],
      extra: { k: ['v'] },
    });
    expect(created.status).toEqual({});
  });

  test.each<[string, Partial<CertificateSigningRequestSpecInput>, string[]]>([
    [
      'a request that is not PEM',
      { request: btoa('x') },
      ['spec.request: Invalid value: []byte{0x78}: PEM block type must be CERTIFICATE REQUEST'],
    ],
    ['no usage', { usages: [] }, ['spec.usages: Required value']],
    ['a duplicate usage', { usages: ['any', 'any'] }, ['spec.usages[1]: Duplicate value: "any"']],
    ['no signer', { signerName: '' }, ['spec.signerName: Required value']],
    [
      'the legacy signer',
      { signerName: 'orch.io/legacy-unknown' },
      [
        'spec.signerName: Invalid value: "orch.io/legacy-unknown": the legacy signerName is not allowed via this API version',
      ],
    ],
    [
      'a short expiration',
      { expirationSeconds: 599 },
      ['spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)'],
    ],
  ])('rejects a CertificateSigningRequest with %s', async (_, more, causes) => {
    expect(await rejectionCauses(create(more))).toEqual(causes);
  });

  test.each([
    ['', 'asn1: syntax error: sequence truncated'],
    ['MIIB', 'asn1: syntax error: truncated tag or length'],
    ['MAUA', 'asn1: syntax error: data truncated'],
    [
      'AAAA',
      "asn1: structure error: tags don't match (16 vs {class:0 tag:0 length:0 isCompound:false}) {optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false} certificateRequest @2",
    ],
  ])('rejects a CertificateSigningRequest with the request content "%s"', async (body, detail) => {
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`;
    const [cause] = await rejectionCauses(create({ request: btoa(pem) }));
    expect(cause?.endsWith(`: ${detail}`)).toBe(true);
  });

  test('rejects a CertificateSigningRequest with an unknown usage, and lists the supported ones', async () => {
    const [cause] = await rejectionCauses(create({ usages: ['guessing'] as never }));
    expect(cause).toContain('spec.usages[0]: Unsupported value: "guessing": supported values: "any", "cert sign",');
  });

  const approved = { type: 'Approved', status: 'True', reason: 'R' };
  const conditions = (...list: object[]) => mergePatch<object>({ status: { conditions: list } }) as never;

  test('rejects changes of a CertificateSigningRequest except through its approval subresource', async () => {
    const api = requests();
    await api.create({ metadata: { name: 'a' }, spec });
    const kept = await api.patch(
      'a',
      mergePatch({ spec: { expirationSeconds: 3600 }, status: { certificate: 'AAAA' } }),
    );
    expect(kept.spec.expirationSeconds).toBeUndefined();
    expect(kept.status).toEqual({});
    const approvedRequest = await api.subresource('approval').patch('a', conditions(approved));
    const now = '2030-01-01T00:00:00Z';
    expect(approvedRequest.status.conditions).toEqual([{ ...approved, lastUpdateTime: now, lastTransitionTime: now }]);
    expect(await rejectionCauses(api.subresource('approval').patch('a', conditions()))).toEqual([
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    ]);
  });

  test.each<[string, object[], string[]]>([
    [
      'both Approved and Denied',
      [approved, { type: 'Denied', status: 'True' }],
      ['status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'],
    ],
    [
      'a Denied condition with status False',
      [{ type: 'Denied', status: 'False' }],
      ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
    ],
    ['a condition without type', [{ type: '', status: 'True' }], ['status.conditions[0].type: Required value']],
    ['a duplicate condition', [approved, approved], ['status.conditions[1].type: Duplicate value: "Approved"']],
  ])('rejects %s', async (_, list, causes) => {
    const api = requests();
    await api.create({ metadata: { name: 'a' }, spec });
    expect(await rejectionCauses(api.subresource('approval').patch('a', conditions(...list)))).toEqual(causes);
  });

  test('gets its certificate once, through status, which cannot approve', async () => {
    const api = requests();
    await api.create({ metadata: { name: 'a' }, spec });
    const issue = (pem: string) => api.status.patch('a', mergePatch({ status: { certificate: btoa(pem) } }));
    expect(await rejectionCauses(api.status.patch('a', conditions(approved)))).toEqual([
      'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    ]);
    expect(await rejectionCauses(issue('x'))).toEqual([
      'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    ]);
    expect(await rejectionCauses(issue(REQUEST))).toEqual([
      'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
    ]);
    expect((await issue(LEAF)).status.certificate).toBe(btoa(LEAF));
    expect(await rejectionCauses(issue(CA))).toEqual([
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    ]);
  });
});
