/** Bootstrap roles and bindings equal those of the reference server: `bootstrap.json` has a hash of each. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { createCluster } from 'orchplane';
import { ClusterRole, ClusterRoleBinding } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import type { InitialObject } from '../../../../src/kinds/kind.js';
import {
  initialClusterRoleBindings,
  initialClusterRoles,
  initialRoleBindings,
  initialRoles,
} from '../../../../src/kinds/rbac/bootstrap/objects.js';
import { type Dialect, kubernetesDialect, orchDialect } from '../../../../src/meta/dialect.js';

const reference = JSON.parse(readFileSync(new URL('./bootstrap.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, string>
>;

const kinds: readonly (readonly [string, (dialect: Dialect) => readonly InitialObject[]])[] = [
  ['clusterroles', initialClusterRoles],
  ['clusterrolebindings', initialClusterRoleBindings],
  ['roles', initialRoles],
  ['rolebindings', initialRoleBindings],
];

/** Bodies by name, hashed like the recorded ones. */
function hashes(objects: readonly InitialObject[]): Record<string, string> {
  const entries = objects.map(({ metadata, ...body }): [string, string] => {
    const { name, namespace, labels, annotations } = metadata;
    const fields = Object.entries(body).sort(([left], [right]) => (left < right ? -1 : 1));
    const text = JSON.stringify([{ labels, annotations }, ...fields]);
    const where = namespace === undefined ? name : `${namespace}/${name}`;
    return [where, createHash('sha256').update(text).digest('hex').slice(0, 12)];
  });
  return Object.fromEntries(entries);
}

describe.each(kinds)('initial %s', (resource, initial) => {
  test('returns the same initial objects as the reference server', () => {
    expect(hashes(initial(kubernetesDialect))).toEqual(reference[resource]);
  });

  test('names initial objects in the dialect', () => {
    const own = JSON.stringify(initial(orchDialect));
    expect(own).not.toMatch(/k8s\.io|kubernetes\.io/);
    const other = own.replaceAll('.orch.io', '.k8s.io').replaceAll('orch.io/', 'kubernetes.io/');
    // Group names end with the prefix of annotation keys.
    const same = JSON.stringify(initial(kubernetesDialect));
    expect(other.replaceAll('.kubernetes.io/', '.k8s.io/')).toBe(same.replaceAll('.kubernetes.io/', '.k8s.io/'));
  });

  test('creates initial objects once', () => {
    expect(initial(orchDialect)).toBe(initial(orchDialect));
    expect(Object.isFrozen(initial(orchDialect)[0]?.metadata)).toBe(true);
  });
});

describe('with the feature gate ClusterTrustBundle', () => {
  const names = (list: { readonly items: readonly { readonly metadata: { readonly name: string } }[] }) =>
    list.items.map(({ metadata }) => metadata.name).filter((name) => name.includes('trust-bundle'));
  const open = (enabled: boolean) =>
    createCluster({ dialect: 'kubernetes', featureGates: { ClusterTrustBundle: enabled } });

  test('service accounts and nodes may read ClusterTrustBundles', async () => {
    const cluster = open(true);
    const rule = {
      verbs: ['get', 'list', 'watch'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['clustertrustbundles'],
    };
    const roles = cluster.api(ClusterRole);
    expect((await roles.get('system:cluster-trust-bundle-discovery')).rules).toEqual([rule]);
    const { rules: before = [] } = await open(false).api(ClusterRole).get('system:node');
    expect((await roles.get('system:node')).rules).toEqual([...(before ?? []), rule]);
    expect(await cluster.api(ClusterRoleBinding).get('system:cluster-trust-bundle-discovery')).toMatchObject({
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:serviceaccounts' }],
      roleRef: { kind: 'ClusterRole', name: 'system:cluster-trust-bundle-discovery' },
    });
  });

  test('there is no such role without the gate', async () => {
    const cluster = open(false);
    expect(names(await cluster.api(ClusterRole).list())).toEqual([]);
    expect(names(await cluster.api(ClusterRoleBinding).list())).toEqual([]);
  });
});

test('keeps the bootstrap tables small', () => {
  const tables = ['cluster-roles', 'controller-roles', 'objects'];
  const text = tables
    .map((name) => readFileSync(new URL(`../../../../src/kinds/rbac/bootstrap/${name}.ts`, import.meta.url), 'utf8'))
    .join('');
  expect(gzipSync(text).length).toBeLessThan(6_000);
});
