/** The keys of kube-apiserver in both directions. */
import { expect, test } from 'vitest';
import { etcdLayout } from '../../../src/etcd/layout.js';
import { kubernetesDialect, orchDialect } from '../../../src/meta/dialect.js';
import { expectedContent } from './fixture.js';

const layout = etcdLayout('/registry', kubernetesDialect);

test.each([
  ['pods', 'default', 'a', '/registry/pods/default/a'],
  ['nodes', '', 'a', '/registry/minions/a'],
  ['services', 'default', 'a', '/registry/services/specs/default/a'],
  ['endpoints', 'default', 'a', '/registry/services/endpoints/default/a'],
  ['replicationcontrollers', 'default', 'a', '/registry/controllers/default/a'],
  ['ingresses.networking.k8s.io', 'default', 'a', '/registry/ingress/default/a'],
  ['deployments.apps', 'default', 'a', '/registry/deployments/default/a'],
  ['clusterroles.rbac.authorization.k8s.io', '', 'system:node', '/registry/clusterroles/system:node'],
  [
    'customresourcedefinitions.apiextensions.k8s.io',
    '',
    'foos.example.com',
    '/registry/apiextensions.k8s.io/customresourcedefinitions/foos.example.com',
  ],
  ['apiservices.apiregistration.k8s.io', '', 'v1.', '/registry/apiregistration.k8s.io/apiservices/v1.'],
  ['foos.example.com', 'default', 'a', '/registry/example.com/foos/default/a'],
  ['foos.snapshot.storage.k8s.io', '', 'a', '/registry/snapshot.storage.k8s.io/foos/a'],
])('files %s in "%s" under %s at %s', (storageKey, namespace, name, key) => {
  expect(layout.keyOf({ storageKey, namespace, name })).toBe(key);
  expect(layout.parse(key)).toMatchObject({ type: 'object', storageKey, namespace, name });
});

test.each([
  ['/registry/ranges/serviceips', 'allocation of cluster IPs'],
  ['/registry/ranges/secondaryserviceips', 'allocation of cluster IPs'],
  ['/registry/ranges/servicenodeports', 'allocation of node ports'],
  ['/registry/masterleases/10.0.0.1', 'address of an API server'],
  ['/registry/peerserverleases/apiserver-a', 'peer address of an API server'],
  ['/registry/health', 'health check'],
  ['compact_rev_key', 'compaction'],
])('recognizes %s as: %s', (key, what) => {
  expect(layout.parse(key)).toEqual({ type: 'internal', what });
});

test.each([
  '/other/pods/default/a',
  '/registry/pods',
  '/registry/pods/',
  '/registry/pods/default/',
  '/registry/pods/default/a/b',
  '/registry/gadgets/default/a',
  '/registry/services/other/default/a',
  'registry/pods/default/a',
])('knows no object at %s', (key) => {
  expect(layout.parse(key)).toEqual({ type: 'unknown' });
});

test('ignores slashes around the prefix, and takes names from the dialect', () => {
  const other = etcdLayout('my/cluster/', orchDialect);
  expect(other.prefixOf('leases.coordination.orch.io', 'default')).toBe('/my/cluster/leases/default/');
  expect(other.prefixOf('customresourcedefinitions.apiextensions.orch.io')).toBe(
    '/my/cluster/apiextensions.orch.io/customresourcedefinitions/',
  );
  expect(etcdLayout('/', orchDialect).prefixOf('pods')).toBe('/pods/');
});

test('reproduces every key of a real server', () => {
  const keys = Object.keys(expectedContent().keys);
  expect(keys.length).toBe(80);
  const parsed = keys.map((key) => [key, layout.parse(key)] as const);
  expect(parsed.filter(([, { type }]) => type === 'unknown')).toEqual([]);
  const rebuilt = parsed.map(([key, content]) => (content.type === 'object' ? layout.keyOf(content) : key));
  expect(rebuilt).toEqual(keys);
});
