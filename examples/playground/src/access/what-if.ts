/**
 * Who may do what, asked of the cluster's own authorizer; and which rule of which role it was, read from the roles.
 */
import type { AccessRule, ApiObject, Cluster, ResourceAttributes, ServedKind, User } from 'orchplane';

export const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;

export interface Question {
  readonly user: User;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Empty: all namespaces, or a kind that is in none. */
  readonly namespace: string;
  readonly name?: string;
}

export interface Answer {
  readonly isAllowed: boolean;
  /** The authorizer's own words; empty: no rule says anything about it. */
  readonly reason: string;
  readonly grant?: Grant;
}

/** What allows it. */
export interface Grant {
  readonly binding: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly role: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly subject: { readonly kind: string; readonly name: string };
  /** The first rule of the role that says so; absent: the role cannot be found. */
  readonly rule?: AccessRule;
}

/** A user with the groups that the server would put him into. */
export function whoeverIs(name: string, groups: readonly string[] = []): User {
  const all = new Set(groups.filter((group) => group !== ''));
  const account = /^system:serviceaccount:([^:]+):[^:]+$/.exec(name);
  if (account !== null) {
    all.add('system:serviceaccounts');
    all.add(`system:serviceaccounts:${account[1]}`);
  }
  all.add(name === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated');
  return { user: name, groups: [...all] };
}

export function mayHe(cluster: Cluster, question: Question): Answer {
  const attributes = attributesOf(question);
  const { allowed, reason } = cluster.authorize(question.user, attributes);
  const grant = allowed ? grantOf(cluster, reason, attributes) : undefined;
  return { isAllowed: allowed, reason, ...(grant === undefined ? {} : { grant }) };
}

export interface MatrixRow {
  readonly kind: ServedKind;
  /** In the order of {@link VERBS}; undefined where the kind does not know the verb. */
  readonly cells: readonly (boolean | undefined)[];
}

/** Verbs × kinds. `namespace` is where namespaced kinds are asked about; empty: everywhere. */
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

function attributesOf({ verb, group, resource, subresource = '', namespace, name = '' }: Question): ResourceAttributes {
  return { type: 'resource', verb, group, version: '*', resource, subresource, namespace, name };
}

/** `RBAC: allowed by RoleBinding "readers/default" of ClusterRole "view" to Group "dev"`. */
const REASON = /allowed by (\w+) "([^"]+)" of (\w+) "([^"]+)" to (\w+) "([^"]+)"/;

function grantOf(cluster: Cluster, reason: string, attributes: ResourceAttributes): Grant | undefined {
  const [matched, bindingKind = '', bindingName = '', roleKind = '', role = '', subjectKind = '', subject = ''] =
    REASON.exec(reason) ?? [];
  if (matched === undefined) return undefined;
  // A binding in a namespace is told of as name/namespace.
  const [binding = '', namespace] = bindingKind === 'RoleBinding' ? bindingName.split('/') : [bindingName];
  const here = namespace === undefined ? {} : { namespace };
  const rule = rulesOf(cluster, roleKind, role, namespace).find((each) => isAbout(each, attributes));
  return {
    binding: { kind: bindingKind, name: binding, ...here },
    role: { kind: roleKind, name: role, ...(roleKind === 'Role' ? here : {}) },
    subject: { kind: subjectKind, name: subject },
    ...(rule === undefined ? {} : { rule }),
  };
}

function rulesOf(cluster: Cluster, kind: string, name: string, namespace: string | undefined): readonly AccessRule[] {
  const objects: readonly ApiObject[] = cluster.inside.everything();
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
  // An aggregated role is the sum of others, which are put together when it is asked.
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

function isAbout(rule: AccessRule, { verb, group, resource, subresource, name }: ResourceAttributes): boolean {
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const resources = ['*', whole, ...(subresource === '' ? [] : [`*/${subresource}`])];
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
