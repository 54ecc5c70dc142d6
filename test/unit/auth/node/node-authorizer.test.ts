/**
 * The Node authorizer. `test/vectors/node-authorizer.json` contains objects and the answers of kube-apiserver 1.33 with
 * `--authorization-mode=Node,RBAC` to access reviews for group system:nodes.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { createCluster } from '../../../../src/cluster/full-cluster.js';
import { type AuthorizerFactory, mergePatch, nodeAuthorizer, rbac, unionAuthorizer } from '../../../../src/index.js';
import { Node, Pod, Secret, SelfSubjectRulesReview, SubjectAccessReview } from '../../../../src/kinds/index.js';
import { loadManifests } from '../../../../src/node/index.js';

type Attributes = Readonly<Record<string, unknown>>;

interface Recording {
  readonly objects: readonly { readonly apiVersion: string; readonly kind: string; readonly metadata: object }[];
  /** The answer is `+` or `-`, and the reason. */
  readonly reviews: readonly (readonly [user: string, attributes: Attributes, answer: string])[];
}

const recording: Recording = JSON.parse(
  readFileSync(new URL('../../../vectors/node-authorizer.json', import.meta.url), 'utf8'),
);

const NODES = ['system:nodes', 'system:authenticated'];
const bothAuthorizers = () => unionAuthorizer(nodeAuthorizer(), rbac());

function clusterWith(featureGates: Readonly<Record<string, boolean>> = {}, authorizer = bothAuthorizers()) {
  return createCluster({ dialect: 'kubernetes', authorizer, featureGates, runtimeConfig: 'api/all=true' });
}

type AnyCluster = ReturnType<typeof clusterWith>;

async function review(cluster: AnyCluster, user: string, attributes: Attributes, groups = NODES): Promise<string> {
  const what = 'path' in attributes ? 'nonResourceAttributes' : 'resourceAttributes';
  const { status } = await cluster.api(SubjectAccessReview).create({ spec: { user, groups, [what]: attributes } });
  return `${status?.allowed === true ? '+' : '-'}${status?.reason ?? ''}`;
}

async function pod(cluster: AnyCluster, name: string, spec: object, annotations: Record<string, string> = {}) {
  await cluster.api(Pod).create({
    metadata: { name, annotations },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });
}

describe('the answers of kube-apiserver', () => {
  const cluster = clusterWith({ DynamicResourceAllocation: true });

  beforeAll(async () => {
    const texts = recording.objects.map((object, index) => ({ name: `${index}`, text: JSON.stringify(object) }));
    const loaded = await loadManifests(cluster, texts);
    expect(loaded.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    const status = { resourceClaimStatuses: [{ name: 't', resourceClaimName: 'rc-made' }] };
    await cluster.api(Pod).status.patch('web', mergePatch({ status }));
  });

  test.each(recording.reviews)('%s %j: %s', async (user, attributes, answer) => {
    expect(await review(cluster, user, attributes)).toBe(answer);
  });
});

describe('nodeAuthorizer', () => {
  const secret = (name: string) => ({ verb: 'get', resource: 'secrets', namespace: 'default', name });
  const withSecret = (name: string) => ({ volumes: [{ name: 'v', secret: { secretName: name } }] });

  test('follows the pods of a node', async () => {
    const cluster = clusterWith();
    expect(await review(cluster, 'system:node:a', secret('s'))).toContain("-no relationship found between node 'a'");
    await pod(cluster, 'one', { nodeName: 'a', ...withSecret('s') });
    await pod(cluster, 'two', { nodeName: 'a', ...withSecret('s') });
    expect(await review(cluster, 'system:node:a', secret('s'))).toBe('+');
    expect(await review(cluster, 'system:node:b', secret('s'))).toContain('-');
    await cluster.api(Pod).delete('one', { gracePeriodSeconds: 0 });
    expect(await review(cluster, 'system:node:a', secret('s'))).toBe('+');
    await cluster.api(Pod).delete('two', { gracePeriodSeconds: 0 });
    expect(await review(cluster, 'system:node:a', secret('s'))).toContain('-');
  });

  test('keeps its answers after a restore', async () => {
    const cluster = clusterWith();
    const empty = cluster.snapshot();
    await pod(cluster, 'one', { nodeName: 'a', ...withSecret('s') });
    expect(await review(cluster, 'system:node:a', secret('s'))).toBe('+');
    const full = cluster.snapshot();
    cluster.restore(empty);
    expect(await review(cluster, 'system:node:a', secret('s'))).toContain('-');
    cluster.restore(full);
    expect(await review(cluster, 'system:node:a', secret('s'))).toBe('+');
  });

  test('does not trust the references of a mirror pod', async () => {
    const cluster = clusterWith();
    const annotations = { 'kubernetes.io/config.mirror': 'x' };
    await pod(cluster, 'mirror', { nodeName: 'a', ...withSecret('s') }, annotations);
    expect(await review(cluster, 'system:node:a', { ...secret('mirror'), resource: 'pods' })).toBe('+');
    expect(await review(cluster, 'system:node:a', secret('s'))).toContain('-');
  });

  test('has no opinion about users outside of system:nodes', async () => {
    const cluster = clusterWith();
    await pod(cluster, 'one', { nodeName: 'a', ...withSecret('s') });
    expect(await review(cluster, 'system:node:a', secret('s'), ['system:authenticated'])).toBe('-');
    expect(await review(cluster, 'a', secret('s'))).toBe('-');
  });

  test('allows lists of all pods and nodes without AuthorizeNodeWithSelectors', async () => {
    const list = (resource: string) => ({ verb: 'list', resource });
    const selective = clusterWith();
    expect(await review(selective, 'system:node:a', list('pods'))).toContain('-can only list/watch pods with');
    expect(await review(selective, 'system:node:a', list('nodes'))).toContain("-node 'a' cannot read all nodes");
    const broad = clusterWith({ AuthorizeNodeWithSelectors: false });
    expect(await review(broad, 'system:node:a', list('pods'))).toBe('+');
    expect(await review(broad, 'system:node:a', list('nodes'))).toBe('+');
  });

  test('allows ClusterTrustBundles with their feature gate only', async () => {
    const bundles = { verb: 'list', group: 'certificates.k8s.io', resource: 'clustertrustbundles' };
    expect(await review(clusterWith(), 'system:node:a', bundles)).toBe('-');
    expect(await review(clusterWith({ ClusterTrustBundle: true }), 'system:node:a', bundles)).toBe('+');
  });

  test('works in requests and in the orch dialect', async () => {
    const cluster = createCluster({ authorizer: bothAuthorizers() });
    const kubelet = cluster.with({ as: { user: 'system:node:a', groups: NODES } });
    await cluster.api(Secret).create({ metadata: { name: 's' } });
    await cluster.api(Node).create({ metadata: { name: 'a' } });
    await cluster.api(Pod).create({
      metadata: { name: 'one' },
      spec: { nodeName: 'a', containers: [{ name: 'c', image: 'i' }], ...withSecret('s') },
    });
    expect((await kubelet.api(Secret).get('s')).metadata.name).toBe('s');
    await expect(kubelet.api(Secret).list()).rejects.toThrow(/: No Object name found$/);
    expect((await kubelet.api(Pod).list({ fields: 'spec.nodeName=a' })).items).toHaveLength(1);
    await expect(kubelet.api(Pod).list()).rejects.toThrow('can only list/watch pods with spec.nodeName field selector');
    await expect(kubelet.api(Node).get('b')).rejects.toThrow(/: node 'a' cannot read 'b', only its own Node object$/);
    const { status } = await kubelet.api(SelfSubjectRulesReview).create({ spec: { namespace: 'default' } });
    const evaluationError = 'node authorizer does not support user rule resolution';
    expect(status).toMatchObject({ incomplete: true, evaluationError });
  });

  test('does not list pods', async () => {
    const lists: string[] = [];
    const watched: AuthorizerFactory = (context) =>
      nodeAuthorizer()({
        ...context,
        objects: {
          ...context.objects,
          list(resource, namespace) {
            lists.push(resource.resource);
            return context.objects.list(resource, namespace);
          },
        },
      });
    const cluster = clusterWith({}, watched);
    await pod(cluster, 'one', { nodeName: 'a', ...withSecret('s') });
    expect(await review(cluster, 'system:node:a', secret('s'))).toBe('+');
    expect(lists).toEqual([]);
  });
});
