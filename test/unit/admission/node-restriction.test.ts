/** The NodeRestriction plugin. */
import { describe, expect, test } from 'vitest';
import { nodeRestriction } from '../../../src/admission/plugins/node-restriction/node-restriction.js';
import { CertificateSigningRequest } from '../../../src/kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import { Lease } from '../../../src/kinds/coordination/v1/lease.js';
import { ConfigMap } from '../../../src/kinds/core/v1/config-map.js';
import { Node } from '../../../src/kinds/core/v1/node/node.js';
import { PersistentVolumeClaim } from '../../../src/kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../../src/kinds/core/v1/pod/pod.js';
import { ServiceAccount } from '../../../src/kinds/core/v1/service-account.js';
import type { FeatureGates } from '../../../src/kinds/feature-gates.js';
import { ResourceSlice } from '../../../src/kinds/resource/index.js';
import { CSINode } from '../../../src/kinds/storage/v1/csi-node.js';
import type { ClusterAuthorizer } from '../../../src/protocol/access.js';
import { type FakeOptions, type FakeRequest, fakeRequest, fakeView, type Sketch } from './fake-cluster.js';
import { OF_MASTERS, OF_NODE_N1 } from './requests.js';

const node = { user: 'system:node:n1', groups: ['system:nodes'] };

/** All gates are enabled except the one that disables the check of certificate requests. */
const features = { enabled: (gate: string) => !gate.startsWith('AllowInsecure') } as FeatureGates;

function review(kind: unknown, about: Omit<FakeRequest, 'kind'>, options: FakeOptions = {}) {
  const request = fakeRequest({ kind: kind as FakeRequest['kind'], user: node, ...about });
  return () => nodeRestriction.mutate?.(request, fakeView({ features, ...options }));
}

describe('node identity', () => {
  const object = { metadata: { name: 'n2' } };
  test.each([
    ['a user in the nodes group without a node name', { user: 'alice', groups: ['system:nodes'] }],
    ['a user with a node name outside of the nodes group', { user: 'system:node:n1' }],
  ])('does not recognize %s as a node', (_, user) => {
    expect(review(Node, { object, user })).not.toThrow();
  });

  test('requires a node name', () => {
    const user = { user: 'system:node:', groups: ['system:nodes'] };
    expect(review(ConfigMap, { object, user })).toThrow('could not determine node from user "system:node:"');
  });

  test('does not restrict other kinds', () => {
    expect(review(ConfigMap, { object })).not.toThrow();
  });
});

describe('node requests to pods', () => {
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1', controller: true };
  const mirror = (
    spec: Sketch = {},
    owners: object[] = [owner],
    annotations: object = { 'kubernetes.io/config.mirror': 'x' },
  ) => ({
    metadata: { name: 'p', namespace: 'ns', annotations, ownerReferences: owners },
    spec: { nodeName: 'n1', containers: [], ...spec },
  });
  const objects = {
    '/nodes': [{ metadata: { name: 'n1', uid: 'u1' } }],
    '/pods': [
      { metadata: { name: 'mine', namespace: 'ns' }, spec: { nodeName: 'n1' } },
      { metadata: { name: 'other', namespace: 'ns' }, spec: { nodeName: 'n2' } },
    ],
  };

  test('allows a node to create mirror pods', () => {
    expect(review(Pod, { object: mirror() }, { objects })).not.toThrow();
  });

  const volume = (source: object) => ({ volumes: [{ name: 'v', ...source }] });
  test.each<[string, Sketch]>([
    [
      'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
      mirror({}, [owner], {}),
    ],
    ['node "n1" can only create pods with spec.nodeName set to itself', mirror({ nodeName: 'n2' })],
    ['node "n1" can only create pods with a single owner reference set to itself', mirror({}, [owner, owner])],
    ['node "n1" can only create pods with an owner reference set to itself', mirror({}, [])],
    ['node "n1" can only create pods with an owner reference set to itself', mirror({}, [{ ...owner, name: 'n2' }])],
    [
      'node "n1" can only create pods with a controller owner reference set to itself',
      mirror({}, [{ ...owner, controller: false }]),
    ],
    [
      'node "n1" must not set blockOwnerDeletion on an owner reference',
      mirror({}, [{ ...owner, blockOwnerDeletion: true }]),
    ],
    ['node n1 UID mismatch: expected u2 got u1', mirror({}, [{ ...owner, uid: 'u2' }])],
    ['node "n1" can not create pods that reference a service account', mirror({ serviceAccountName: 'a' })],
    ['node "n1" can not create pods that reference secrets', mirror(volume({ secret: { secretName: 's' } }))],
    [
      'node "n1" can not create pods that reference secrets',
      mirror(volume({ csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } })),
    ],
    [
      'node "n1" can not create pods that reference configmaps',
      mirror({ containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'm' } }] }] }),
    ],
    [
      'node "n1" can not create pods that reference clustertrustbundles',
      mirror(volume({ projected: { sources: [{ clusterTrustBundle: { path: 'p' } }] } })),
    ],
    [
      'node "n1" can not create pods that reference persistentvolumeclaims',
      mirror(volume({ persistentVolumeClaim: { claimName: 'c' } })),
    ],
    ['node "n1" can not create pods that reference resourceclaims', mirror({ resourceClaims: [{ name: 'r' }] })],
  ])('rejects a mirror pod: %s', (why, object) => {
    expect(review(Pod, { object }, { objects })).toThrow(`pods "p" is forbidden: ${why}`);
  });

  test('requires an existing node for a mirror pod', () => {
    expect(review(Pod, { object: mirror() })).toThrow('node "n1" not found');
  });

  const named = (name: string) => ({ name, namespace: 'ns' });
  test('allows a node to delete and evict its pods', () => {
    expect(review(Pod, { operation: 'DELETE', ...named('mine') }, { objects })).not.toThrow();
    expect(review(Pod, { operation: 'DELETE', ...named('other') }, { objects })).toThrow(
      'node "n1" can only delete pods with spec.nodeName set to itself',
    );
    expect(review(Pod, { operation: 'DELETE', ...named('none') }, { objects })).toThrow('pod "none" not found');
    const evict = { subresource: 'eviction', object: {} } as const;
    expect(review(Pod, { ...evict, ...named('mine') }, { objects })).not.toThrow();
    expect(review(Pod, { ...evict, ...named('other') }, { objects })).toThrow(
      'node n1 can only evict pods with spec.nodeName set to itself',
    );
    expect(review(Pod, { ...evict, namespace: 'ns' }, { objects })).toThrow(
      'could not determine pod from request data',
    );
  });

  test('allows a node to update the status of its pods only', () => {
    const pod = (nodeName: string, labels = {}, status: Sketch = {}) => ({
      metadata: { name: 'p', labels },
      spec: { nodeName },
      status,
    });
    const update = (object: Sketch, oldObject: Sketch, subresource = 'status') =>
      review(Pod, { operation: 'UPDATE', subresource, object, oldObject });
    expect(update(pod('n1', {}, { phase: 'Running' }), pod('n1'))).not.toThrow();
    expect(update(pod('n2'), pod('n2'))).toThrow(
      'can only update pod status for pods with spec.nodeName set to itself',
    );
    expect(update(pod('n1', { a: 'b' }), pod('n1'))).toThrow('node "n1" cannot update labels through pod status');
    const claims = { resourceClaimStatuses: [{ name: 'a', resourceClaimName: 'b' }] };
    expect(update(pod('n1', {}, claims), pod('n1'))).toThrow('node "n1" cannot update resource claim statues');
    expect(update(pod('n1'), pod('n1'), '')).toThrow(
      'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
    );
    expect(update(pod('n1'), pod('n1'), 'resize')).toThrow(
      `unexpected pod subresource "resize", only 'status' and 'eviction' are allowed`,
    );
  });
});

describe('node requests to nodes', () => {
  const own = (metadata: Sketch = {}, spec: Sketch = {}) => ({ metadata: { name: 'n1', ...metadata }, spec });
  test('allows a node to create its Node with kubelet labels', () => {
    const labels = {
      'kubernetes.io/hostname': 'n1',
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': 'a',
      'failure-domain.beta.kubernetes.io/region': 'r',
      'beta.kubernetes.io/instance-type': 'm',
      'node.kubernetes.io/instance-type': 'm',
      'kubelet.kubernetes.io/x': 'y',
      'a.node.kubernetes.io/x': 'y',
      'example.com/x': 'y',
    };
    expect(review(Node, { object: own({ labels }) })).not.toThrow();
  });

  test.each<[string, Sketch]>([
    ['node "n1" is not allowed to modify node "n2"', { metadata: { name: 'n2' }, spec: {} }],
    ['node "n1" is not allowed to create pods with a non-nil configSource', own({}, { configSource: {} })],
    [
      'node "n1" is not allowed to set the following labels: a.k8s.io/x, kubernetes.io/role, node-restriction.kubernetes.io/x, x.node-restriction.kubernetes.io/y',
      own({
        labels: {
          'x.node-restriction.kubernetes.io/y': '',
          'node-restriction.kubernetes.io/x': '',
          'kubernetes.io/role': '',
          'a.k8s.io/x': '',
        },
      }),
    ],
  ])('rejects a new node: %s', (why, object) => {
    expect(review(Node, { object })).toThrow(why);
  });

  test.each<[string, Sketch]>([
    [
      'node "n1" is not allowed to update configSource to a new non-nil configSource',
      own({}, { configSource: { a: 1 } }),
    ],
    ['node "n1" is not allowed to modify taints', own({}, { taints: [{ key: 'a', effect: 'NoSchedule' }] })],
    ['node "n1" is not allowed to modify ownerReferences', own({ ownerReferences: [{ uid: 'u' }] })],
    ['is not allowed to modify labels: kubernetes.io/role', own({ labels: { 'kubernetes.io/role': 'x' } })],
  ])('rejects an update of a node: %s', (why, object) => {
    expect(review(Node, { operation: 'UPDATE', object, oldObject: own() })).toThrow(why);
    expect(review(Node, { operation: 'UPDATE', object, oldObject: object })).not.toThrow();
  });
});

describe('node requests to its own objects', () => {
  const named = (name: string, more: Sketch = {}) => ({ object: { metadata: { name }, ...more } });
  test('allows a node to write its lease in the lease namespace', () => {
    expect(review(Lease, { ...named('n1'), namespace: 'kube-node-lease' })).not.toThrow();
    expect(review(Lease, { ...named('n1'), namespace: 'default' })).toThrow(
      'can only access leases in the "kube-node-lease" system namespace',
    );
    expect(review(Lease, { ...named('n2'), namespace: 'kube-node-lease' })).toThrow(
      'can only access node lease with the same name as the requesting node',
    );
  });

  test('allows a node to write its CSINode and ResourceSlices', () => {
    expect(review(CSINode, named('n1'))).not.toThrow();
    expect(review(CSINode, named('n2'))).toThrow('can only access CSINode with the same name as the requesting node');
    expect(review(ResourceSlice, named('x', { spec: { nodeName: 'n1' } }))).not.toThrow();
    expect(review(ResourceSlice, named('x', { spec: { allNodes: true } }))).toThrow(
      'can only create ResourceSlice with the same NodeName as the requesting node',
    );
    const oldObject = { metadata: { name: 'x' }, spec: { nodeName: 'n2' } };
    expect(review(ResourceSlice, { operation: 'DELETE', oldObject })).toThrow(
      'can only delete ResourceSlice with the same NodeName as the requesting node',
    );
  });

  test('allows a node to create certificate requests for itself', () => {
    const csr = (request: string, signerName = 'kubernetes.io/kubelet-serving') =>
      review(CertificateSigningRequest, named('r', { spec: { signerName, request: btoa(request) } }));
    expect(csr(OF_NODE_N1)).not.toThrow();
    expect(csr(OF_MASTERS, 'example.com/x')).not.toThrow();
    expect(csr(OF_MASTERS, 'kubernetes.io/kube-apiserver-client-kubelet')).toThrow(
      'can only create a node CSR with CN=system:node:n1',
    );
    expect(csr('nothing')).toThrow('unable to parse csr: PEM block type must be CERTIFICATE REQUEST');
  });

  test('allows a node to report the size of claims', () => {
    const claim = (status: Sketch, labels = {}) => ({ metadata: { name: 'c', labels }, spec: {}, status });
    const update = (object: Sketch, subresource = 'status') =>
      review(PersistentVolumeClaim, { operation: 'UPDATE', subresource, object, oldObject: claim({}) });
    expect(update(claim({ capacity: { storage: '1' }, conditions: [{}], allocatedResources: {} }))).not.toThrow();
    expect(update(claim({ phase: 'Lost' }))).toThrow(
      'node "n1" is not allowed to update fields other than status.quantity and status.conditions: status',
    );
    expect(update(claim({}, { a: 'b' }))).toThrow('status.quantity and status.conditions: metadata');
    expect(update(claim({}), '')).toThrow('may only update PVC status');
  });
});

describe('node requests for tokens', () => {
  const pod = (volumes: object[] = [], nodeName = 'n1') => ({
    metadata: { name: 'p', namespace: 'ns', uid: 'u' },
    spec: { nodeName, volumes },
  });
  const bound = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
  const token = (
    boundObjectRef: Sketch | undefined,
    audiences: string[],
    {
      pods = [pod([tokenVolume('')])],
      access,
      ...objects
    }: { pods?: Sketch[]; access?: ClusterAuthorizer } & Record<string, unknown> = {},
  ) =>
    review(
      ServiceAccount,
      { subresource: 'token', namespace: 'ns', name: 'sa', object: { spec: { boundObjectRef, audiences } } },
      { objects: { '/pods': pods, ...(objects as Record<string, Sketch[]>) }, access: access ?? noAccess },
    );
  const tokenVolume = (audience: string) => ({
    name: 't',
    projected: { sources: [{ serviceAccountToken: { path: 't', ...(audience ? { audience } : {}) } }] },
  });
  const noAccess: ClusterAuthorizer = {
    decide: () => ({ allowed: false, reason: '' }),
    rules: () => ({ resourceRules: [], nonResourceRules: [] }),
  };

  test('requires tokens that a node requests to be bound to its pods', () => {
    expect(token(bound, [])).not.toThrow();
    expect(token(undefined, [])).toThrow('node requested token not bound to a pod');
    expect(token({ ...bound, kind: 'Secret' }, [])).toThrow('node requested token not bound to a pod');
    expect(token({ ...bound, uid: '' }, [])).toThrow('node requested token with a pod binding without a uid');
    expect(token({ ...bound, name: 'q' }, [])).toThrow('pod "q" not found');
    expect(token({ ...bound, uid: 'v' }, [])).toThrow('the UID in the bound object reference (v) does not match');
    expect(token(bound, [], { pods: [pod([], 'n2')] })).toThrow(
      'node requested token bound to a pod scheduled on a different node',
    );
  });

  test('allows token audiences of the projected tokens of the pod', () => {
    expect(token(bound, ['vault'], { pods: [pod([tokenVolume('vault')])] })).not.toThrow();
    expect(token(bound, ['a', 'b'])).toThrow('node may only request 0 or 1 audiences');
    expect(token(bound, ['vault'])).toThrow(
      'audience "vault" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
    );
  });

  test('allows token audiences of the CSI drivers of the volumes', () => {
    const drivers = {
      'storage.orch.io/csidrivers': [{ metadata: { name: 'd' }, spec: { tokenRequests: [{ audience: 'a' }] } }],
    };
    const claims = {
      '/persistentvolumeclaims': [{ metadata: { name: 'c', namespace: 'ns' }, spec: { volumeName: 'v' } }],
      '/persistentvolumes': [{ metadata: { name: 'v' }, spec: { csi: { driver: 'd' } } }],
    };
    const inline = [pod([{ name: 'x', csi: { driver: 'd' } }])];
    const claimed = [pod([{ name: 'x', persistentVolumeClaim: { claimName: 'c' } }])];
    expect(token(bound, ['a'], { pods: inline, ...drivers })).not.toThrow();
    expect(token(bound, ['a'], { pods: claimed, ...drivers, ...claims })).not.toThrow();
    expect(token(bound, ['a'], { pods: claimed })).toThrow(
      'error validating audience "a": persistentvolumeclaim "c" not found',
    );
    expect(token(bound, ['a'], { pods: inline })).toThrow(
      'error validating audience "a": csidriver.storage.k8s.io "d" not found',
    );
    const old = [pod([{ name: 'x', awsElasticBlockStore: { volumeID: 'i' } }])];
    expect(token(bound, ['a'], { pods: old })).toThrow('csidriver.storage.k8s.io "ebs.csi.aws.com" not found');
  });

  test('allows token audiences that the node is authorized for', () => {
    const checks: unknown[] = [];
    const access: ClusterAuthorizer = {
      ...noAccess,
      decide: (_, attributes) => {
        checks.push(attributes);
        return { allowed: true, reason: '' };
      },
    };
    expect(token(bound, ['vault'], { access })).not.toThrow();
    expect(checks).toMatchObject([
      { verb: 'request-serviceaccounts-token-audience', resource: 'vault', namespace: 'ns', name: 'sa', version: 'v1' },
    ]);
  });
});
