/**
 * Asks the cluster's authorizer whether a user may do something, and finds the role and the rule that allow it.
 */
import type { AccessRule, ApiObject, Cluster, ResourceAttributes, ServedKind, User } from 'orchplane';

export const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;

export interface AccessQuestion {
  readonly user: User;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Empty for all namespaces, or for a cluster-scoped kind. */
  readonly namespace: string;
  readonly name?: string;
}

export interface AccessDecision {
  readonly isAllowed: boolean;
  /** The authorizer's reason; empty if no rule matches. */
  readonly reason: string;
  readonly grant?: Grant;
}

/** The binding, role and rule that allow a request. */
export interface Grant {
  readonly binding: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly role: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly subject: { readonly kind: string; readonly name: string };
  /** The first rule of the role that allows it; absent if the role does not exist. */
  readonly rule?: AccessRule;
}

/** A user with the groups that the server adds. */
export function userWithDefaultGroups(name: string, groups: readonly string[] = []): User {
  const all = new Set(groups.filter((group) => group !== ''));
  const account = /^system:serviceaccount:([^:]+):[^:]+$/.exec(name);
  if (account !== null) {
    all.add('system:serviceaccounts');
    all.add(`system:serviceaccounts:${account[1]}`);
  }
  all.add(name === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated');
  return { user: name, groups: [...all] };
}

export function checkAccess(cluster: Cluster, question: AccessQuestion): AccessDecision {
  const attributes = attributesOf(question);
  const { allowed, reason } = cluster.authorize(question.user, attributes);
  const grant = allowed ? grantOf(cluster, reason, attributes) : undefined;
  return { isAllowed: allowed, reason, ...(grant === undefined ? {} : { grant }) };
}

export interface MatrixRow {
  readonly kind: ServedKind;
  /** In the order of {@link VERBS}; undefined where the kind does not support the verb. */
  readonly cells: readonly (boolean | undefined)[];
}

/** The decisions for all verbs and kinds. `namespace` applies to namespaced kinds; empty means all namespaces. */
export function accessMatrix(
  cluster: Cluster,
  kinds: readonly ServedKind[],
  user: User,
  namespace: string,
): readonly MatrixRow[] {
  return kinds.map((kind) => ({
    kind,
    cells: VERBS.map((verb) => {
      if (!(kind.verbs as readonly string[]).includes(verb)) return undefined;
      const { group, resource } = kind.gvr;
      const question = { user, verb, group, resource, namespace: kind.namespaced ? namespace : '' };
      return cluster.authorize(user, attributesOf(question)).allowed;
    }),
  }));
}

function attributesOf({
  verb,
  group,
  resource,
  subresource = '',
  namespace,
  name = '',
}: AccessQuestion): ResourceAttributes {
  return { type: 'resource', verb, group, version: '*', resource, subresource, namespace, name };
}

/** `RBAC: allowed by RoleBinding "readers/default" of ClusterRole "view" to Group "dev"`. */
const REASON = /allowed by (\w+) "([^"]+)" of (\w+) "([^"]+)" to (\w+) "([^"]+)"/;

function grantOf(cluster: Cluster, reason: string, attributes: ResourceAttributes): Grant | undefined {
  const [matched, bindingKind = '', bindingName = '', roleKind = '', role = '', subjectKind = '', subject = ''] =
    REASON.exec(reason) ?? [];
  if (matched === undefined) return undefined;
  // The reason contains a namespaced binding as name/namespace.
  const [binding = '', namespace] = bindingKind === 'RoleBinding' ? bindingName.split('/') : [bindingName];
  const here = namespace === undefined ? {} : { namespace };
  const rule = rulesOf(cluster, roleKind, role, namespace).find((each) => ruleMatches(each, attributes));
  return {
    binding: { kind: bindingKind, name: binding, ...here },
    role: { kind: roleKind, name: role, ...(roleKind === 'Role' ? here : {}) },
    subject: { kind: subjectKind, name: subject },
    ...(rule === undefined ? {} : { rule }),
  };
}

function rulesOf(cluster: Cluster, kind: string, name: string, namespace: string | undefined): readonly AccessRule[] {
  const objects: readonly ApiObject[] = cluster.storageReader.everything();
  const role = objects.find(
    (object) =>
      object.kind === kind &&
      object.metadata.name === name &&
      (kind === 'ClusterRole' || object.metadata.namespace === namespace),
  );
  if (role === undefined) return [];
  const own = (role['rules'] ?? []) as readonly AccessRule[];
  const { clusterRoleSelectors = [] } = (role['aggregationRule'] ?? {}) as {
    readonly clusterRoleSelectors?: readonly { readonly matchLabels?: Readonly<Record<string, string>> }[];
  };
  // An aggregated ClusterRole contains the rules of the roles that its selectors match.
  const others = clusterRoleSelectors.flatMap(({ matchLabels = {} }) =>
    objects
      .filter(
        ({ kind: each, metadata }) =>
          each === 'ClusterRole' && metadata.name !== name && hasLabels(metadata.labels, matchLabels),
      )
      .flatMap((other) => rulesOf(cluster, 'ClusterRole', other.metadata.name, undefined)),
  );
  return [...own, ...others];
}

function hasLabels(
  labels: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => labels?.[key] === value);
}

function ruleMatches(rule: AccessRule, { verb, group, resource, subresource, name }: ResourceAttributes): boolean {
  const qualified = subresource === '' ? resource : `${resource}/${subresource}`;
  const resources = ['*', qualified, ...(subresource === '' ? [] : [`*/${subresource}`])];
  const includes = (list: readonly string[] | undefined, ...wanted: string[]) =>
    wanted.some((each) => list?.includes(each));
  const names = rule.resourceNames ?? [];
  return (
    includes(rule.verbs, '*', verb) &&
    includes(rule.apiGroups, '*', group) &&
    includes(rule.resources, ...resources) &&
    (names.length === 0 || names.includes(name))
  );
}
