/**
 * The bindings of recorded roles to the users whose requests they allow.
 */
import type { RoleManifest } from './access-report.js';

/** A RoleBinding or ClusterRoleBinding manifest. */
export interface BindingManifest {
  readonly apiVersion: string;
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding';
  readonly metadata: RoleManifest['metadata'];
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects: readonly BoundSubject[];
}

interface BoundSubject {
  readonly apiGroup?: string;
  readonly kind: 'User' | 'ServiceAccount';
  readonly name: string;
  readonly namespace?: string;
}

/** The prefix of the user names of service accounts; the same in both dialects. */
const ACCOUNT_PREFIX = 'system:serviceaccount:';

/** The binding of a role to users, by their names. */
export function bindingOf({ apiVersion, kind, metadata }: RoleManifest, users: Iterable<string>): BindingManifest {
  const apiGroup = apiVersion.slice(0, apiVersion.indexOf('/'));
  const subjects = [...new Set(users)].sort().map((user): BoundSubject => {
    const [namespace = '', name] = user.startsWith(ACCOUNT_PREFIX) ? user.slice(ACCOUNT_PREFIX.length).split(':') : [];
    return name === undefined ? { apiGroup, kind: 'User', name: user } : { kind: 'ServiceAccount', name, namespace };
  });
  return { apiVersion, kind: `${kind}Binding`, metadata, roleRef: { apiGroup, kind, name: metadata.name }, subjects };
}
