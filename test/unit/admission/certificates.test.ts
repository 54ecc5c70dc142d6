/** The plugins that protect signers. */
import { describe, expect, test } from 'vitest';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from '../../../src/admission/plugins/certificates.js';
import { CertificateSigningRequest } from '../../../src/kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import { ClusterTrustBundle } from '../../../src/kinds/certificates/v1beta1/cluster-trust-bundle.js';
import { featureGates } from '../../../src/kinds/feature-gates.js';
import type { Kind } from '../../../src/kinds/kind.js';
import { kubernetesDialect, orchDialect } from '../../../src/meta/dialect.js';
import type { AccessAttributes, ClusterAuthorizer } from '../../../src/protocol/access.js';
import { fakeRequest, fakeView, finished, type Sketch } from './fake-cluster.js';
import { OF_MASTERS, OF_NODE_N1 } from './requests.js';

const Request = CertificateSigningRequest as unknown as Kind;
const Bundle = ClusterTrustBundle as unknown as Kind;

/** Allows one verb on one signer and records the checks. */
function allowing(verb: string, name: string): ClusterAuthorizer & { readonly checks: AccessAttributes[] } {
  const checks: AccessAttributes[] = [];
  const decide: ClusterAuthorizer['decide'] = (_, attributes) => {
    checks.push(attributes);
    const allowed = attributes.type === 'resource' && attributes.verb === verb && attributes.name === name;
    return { allowed, reason: '' };
  };
  return { checks, decide, rules: () => ({ resourceRules: [], nonResourceRules: [] }) };
}

const csr = (status: Sketch = {}, signerName = 'example.com/s'): Sketch => ({
  metadata: { name: 'r' },
  spec: { signerName, request: btoa(OF_MASTERS) },
  status,
});

const forbidden = (what: string) =>
  `certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to ${what} requests with signerName "example.com/s"`;

describe.each([
  ['approve', 'approval', certificateApproval, {}],
  ['sign', 'status', certificateSigning, { certificate: 'Yw==' }],
] as const)('the permission to %s certificate requests', (verb, subresource, plugin, status) => {
  const review = (access: ClusterAuthorizer, next: Sketch = status, below: string = subresource) => {
    const about = {
      kind: Request,
      operation: 'UPDATE',
      subresource: below,
      object: csr(next),
      oldObject: csr(),
    } as const;
    return () => plugin.validate?.(finished(fakeRequest(about)), fakeView({ access }));
  };

  test.each(['example.com/s', 'example.com/*'])('allows a user with the verb on %s', (name) => {
    expect(review(allowing(verb, name))).not.toThrow();
  });

  test('rejects other users', () => {
    const access = allowing(verb, 'example.com/t');
    expect(review(access)).toThrow(forbidden(verb));
    const signers = { type: 'resource', verb, group: 'certificates.k8s.io', version: '*', resource: 'signers' };
    expect(access.checks).toMatchObject([
      { ...signers, name: 'example.com/s' },
      { ...signers, name: 'example.com/*' },
    ]);
  });

  test('ignores other writes', () => {
    expect(review(allowing('', ''), status, verb === 'sign' ? 'approval' : 'status')).not.toThrow();
    expect(review(allowing('', ''), status, '')).not.toThrow();
  });
});

test('requires no permission to sign for a status that changes neither certificate nor conditions', () => {
  const object = csr({ conditions: [] });
  const about = { kind: Request, operation: 'UPDATE', subresource: 'status', object, oldObject: csr() } as const;
  const view = fakeView({ access: allowing('', '') });
  expect(() => certificateSigning.validate?.(finished(fakeRequest(about)), view)).not.toThrow();
  const changed = { ...about, object: csr({ conditions: [{ type: 'Failed', status: 'True' }] }) };
  expect(() => certificateSigning.validate?.(finished(fakeRequest(changed)), view)).toThrow(forbidden('sign'));
});

describe('CertificateSubjectRestriction', () => {
  const review = (signerName: string, request: string, dialect = kubernetesDialect) => {
    const object = { metadata: { name: 'r' }, spec: { signerName, request: btoa(request) } };
    const checks = fakeRequest({ kind: Request, object, dialect });
    return () => certificateSubjectRestriction.validate?.(finished(checks), fakeView({ dialect }));
  };

  test('rejects system:masters certificates of the client signer', () => {
    expect(review('kubernetes.io/kube-apiserver-client', OF_MASTERS)).toThrow(
      'certificatesigningrequests.certificates.k8s.io "r" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
    expect(review('orch.io/kube-apiserver-client', OF_MASTERS, orchDialect)).toThrow(
      'use of orch.io/kube-apiserver-client',
    );
  });

  test('ignores other signers and subjects', () => {
    expect(review('example.com/s', OF_MASTERS)).not.toThrow();
    expect(review('kubernetes.io/kube-apiserver-client', OF_NODE_N1)).not.toThrow();
  });
});

describe('ClusterTrustBundleAttest', () => {
  const bundle = (signerName: string | undefined, metadata: Sketch = {}, trustBundle = 'x'): Sketch => ({
    metadata: { name: 'b', ...metadata },
    spec: { ...(signerName === undefined ? {} : { signerName }), trustBundle },
  });
  const review = (access: ClusterAuthorizer, object: Sketch, oldObject?: Sketch, isOn = true) => {
    const operation = oldObject === undefined ? 'CREATE' : 'UPDATE';
    const checks = fakeRequest({ kind: Bundle, operation, object, ...(oldObject === undefined ? {} : { oldObject }) });
    const features = featureGates({ ClusterTrustBundle: isOn });
    return () => clusterTrustBundleAttest.validate?.(finished(checks), fakeView({ access, features }));
  };
  const message = 'user not permitted to attest for signerName "example.com/s"';

  test('requires permission to attest for the signer', () => {
    expect(review(allowing('attest', 'example.com/s'), bundle('example.com/s'))).not.toThrow();
    expect(review(allowing('attest', 'other.com/*'), bundle('example.com/s'))).toThrow(message);
    expect(review(allowing('', ''), bundle(undefined))).not.toThrow();
    expect(review(allowing('', ''), bundle('example.com/s'), undefined, false)).not.toThrow();
  });

  test('ignores updates without change', () => {
    const live = bundle('example.com/s', { finalizers: ['a'], resourceVersion: '1' });
    expect(review(allowing('', ''), bundle('example.com/s', { resourceVersion: '1' }), live)).not.toThrow();
    expect(review(allowing('', ''), bundle('example.com/s', { labels: { a: 'b' } }), live)).toThrow(message);
    expect(review(allowing('', ''), bundle('example.com/s', {}, 'y'), live)).toThrow(message);
  });
});
