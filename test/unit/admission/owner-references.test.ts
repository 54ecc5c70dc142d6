/** Permissions to change owner references and to block deletion of owners. */
import { expect, test } from 'vitest';
import { ownerReferencesPermissionEnforcement as plugin } from '../../../src/admission/plugins/owner-references.js';
import { Deployment } from '../../../src/kinds/apps/v1/deployment.js';
import { Node } from '../../../src/kinds/core/v1/node/node.js';
import { Pod } from '../../../src/kinds/core/v1/pod/pod.js';
import type { Kind } from '../../../src/kinds/kind.js';
import type { ClusterAuthorizer, ResourceAttributes } from '../../../src/protocol/access.js';
import { fakeRequest, fakeView, finished } from './fake-cluster.js';

const kinds = [Pod, Deployment, Node] as unknown as Kind[];

/** Allows what is listed as `verb group/resource/subresource namespace/name`. */
function allowing(...list: string[]): ClusterAuthorizer {
  const print = ({ verb, group, resource, subresource, namespace, name }: ResourceAttributes) =>
    `${verb} ${group}/${resource}/${subresource} ${namespace}/${name}`;
  return {
    decide: (_, attributes) => {
      const allowed = list.includes(print(attributes as ResourceAttributes));
      return { allowed, reason: allowed ? '' : 'not for you' };
    },
    rules: () => ({ resourceRules: [], nonResourceRules: [] }),
  };
}

const owner = (part: object = {}) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u', ...part });
const blocking = (part: object = {}) => owner({ blockOwnerDeletion: true, ...part });

function review(access: ClusterAuthorizer, next: object[] | undefined, live?: object[], subresource = '') {
  const object = (ownerReferences: object[] | undefined) => ({
    metadata: { name: 'p', namespace: 'ns', ...(ownerReferences === undefined ? {} : { ownerReferences }) },
  });
  const request = fakeRequest({
    kind: Pod as unknown as Kind,
    operation: live === undefined ? 'CREATE' : 'UPDATE',
    subresource,
    object: object(next),
    ...(live === undefined ? {} : { oldObject: object(live) }),
  });
  return () => plugin.validate?.(finished(request), fakeView({ access, kinds }));
}

const NO_DELETE = `pods "p" is forbidden: cannot set an ownerRef on a resource you can't delete: not for you, <nil>`;
const NO_FINALIZE = `pods "p" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: not for you, <nil>`;

test('allows any owner without blockOwnerDeletion on creation', () => {
  expect(review(allowing(), [owner()])).not.toThrow();
  expect(review(allowing(), undefined)).not.toThrow();
});

test('requires permission to delete for a change of owners', () => {
  expect(review(allowing(), [owner()], [])).toThrow(NO_DELETE);
  expect(review(allowing(), [], [owner()])).toThrow(NO_DELETE);
  expect(review(allowing(), [owner()], [owner()])).not.toThrow();
  expect(review(allowing('delete /pods/ ns/p'), [owner()], [])).not.toThrow();
  expect(review(allowing(), [owner()], [], 'status')).not.toThrow();
  expect(review(allowing(), [owner()], [], 'resize')).toThrow(NO_DELETE);
});

test('requires permission to set finalizers for blockOwnerDeletion', () => {
  expect(review(allowing(), [blocking()])).toThrow(NO_FINALIZE);
  expect(review(allowing('update apps/deployments/finalizers ns/d'), [blocking()])).not.toThrow();
  expect(review(allowing('update */*/finalizers /*'), [blocking()])).not.toThrow();
  const node = blocking({ apiVersion: 'v1', kind: 'Node', name: 'n' });
  expect(review(allowing('update /nodes/finalizers /n'), [node])).not.toThrow();
});

test('checks only owners that newly block deletion', () => {
  const mayDelete = allowing('delete /pods/ ns/p');
  expect(review(mayDelete, [blocking(), owner({ uid: 'v' })], [blocking()])).not.toThrow();
  expect(review(mayDelete, [blocking()], [owner()])).toThrow(NO_FINALIZE);
});

test.each([
  ['v1', 'Ghost', 'no matches for kind "Ghost" in version "v1"'],
  ['a/b/c', 'Ghost', 'unexpected GroupVersion string: a/b/c'],
])('rejects an owner of the unknown kind %s %s', (apiVersion, kind, why) => {
  expect(review(allowing(), [blocking({ apiVersion, kind })])).toThrow(
    `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${why}`,
  );
});
