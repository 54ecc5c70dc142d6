/**
 * Builds the initial roles and bindings of a cluster from the tables, once per dialect.
 */
import { type FieldSet, LEAF } from '../../../merge/apply/field-set.js';
import { fieldElement } from '../../../merge/apply/path-element.js';
import { type Dialect, SERVER_MANAGER, serviceGroup } from '../../../meta/dialect.js';
import type { AccessRule } from '../../../protocol/access.js';
import { deepFreeze } from '../../../util/json.js';
import { sortedRecord } from '../../../util/order.js';
import type { InitialObject, Kind } from '../../kind.js';
import { RBAC_GROUP } from '../role-rules.js';
import { CLUSTER_ROLE_TABLE } from './cluster-roles.js';
import { CONTROLLER_ROLE_TABLE, MIGRATOR_ROLE_TABLE } from './controller-roles.js';

/**
 * The roles within the namespaces of the system, by namespace; tables as in `cluster-roles.ts`.
 */
const ROLE_TABLES: readonly (readonly [namespace: string, table: string])[] = [
  [
    'kube-public',
    `
system:controller:bootstrap-signer
 get,list,watch - configmaps
 update - configmaps cluster-info
 create,patch,update -,events~ events
`,
  ],
  [
    'kube-system',
    `
extension-apiserver-authentication-reader
 get,list,watch - configmaps extension-apiserver-authentication
system:controller:bootstrap-signer
 get,list,watch - secrets
system:controller:cloud-provider
 create,get,list,watch - configmaps
system:controller:token-cleaner
 delete,get,list,watch - secrets
 create,patch,update -,events~ events
system::leader-locking-kube-controller-manager
 watch - configmaps
 get,update - configmaps kube-controller-manager
 create,get,list,update,watch coordination~ leases
 create,get,list,update,watch coordination~ leasecandidates
system::leader-locking-kube-scheduler
 watch - configmaps
 get,update - configmaps kube-scheduler
 create,get,list,update,watch coordination~ leases
 create,get,list,update,watch coordination~ leasecandidates
`,
  ],
];

/**
 * Who has the roles that every cluster starts with. A line is a binding: its name, which is that of its role, and its
 * subjects, `User=`, `Group=` or `ServiceAccount=` (of the namespace of the system) and a name. Where the role has
 * another name, that follows after `=`.
 */
const CLUSTER_BINDING_TABLE = `
cluster-admin Group=system:masters
system:monitoring Group=system:monitoring
system:discovery Group=system:authenticated
system:basic-user Group=system:authenticated
system:public-info-viewer Group=system:authenticated Group=system:unauthenticated
system:node-proxier User=system:kube-proxy
system:kube-controller-manager User=system:kube-controller-manager
system:kube-dns ServiceAccount=kube-dns
system:kube-scheduler User=system:kube-scheduler
system:volume-scheduler User=system:kube-scheduler
system:node
system:service-account-issuer-discovery Group=system:serviceaccounts
`;

const BINDING_TABLES: readonly (readonly [namespace: string, table: string])[] = [
  ['kube-public', 'system:controller:bootstrap-signer ServiceAccount=bootstrap-signer'],
  [
    'kube-system',
    `
system::extension-apiserver-authentication-reader=extension-apiserver-authentication-reader User=system:kube-controller-manager User=system:kube-scheduler
system::leader-locking-kube-controller-manager User=system:kube-controller-manager ServiceAccount=kube-controller-manager ServiceAccount=leader-election-controller
system::leader-locking-kube-scheduler User=system:kube-scheduler ServiceAccount=kube-scheduler
system:controller:bootstrap-signer ServiceAccount=bootstrap-signer
system:controller:cloud-provider ServiceAccount=cloud-provider
system:controller:token-cleaner ServiceAccount=token-cleaner
`,
  ],
];

const CONTROLLER = 'system:controller:';
const SYSTEM = 'kube-system';

/** The aggregated roles. */
const AGGREGATED = ['admin', 'edit', 'view'] as const;
/** The aggregated role that includes the rules of another one. */
const ADDS_TO: Readonly<Record<string, string>> = { edit: 'admin', view: 'edit' };
const PARTS = 'system:aggregate-to-';

export const initialClusterRoles = oncePerDialect((dialect) => {
  const named = (name: string, rules: readonly AccessRule[]): InitialObject => {
    const target = name.startsWith(PARTS) ? name.slice(PARTS.length) : undefined;
    const body = { rules };
    return { metadata: metadata(dialect, name, { body, labels: addsTo(dialect, target) }), ...body };
  };
  const aggregated = AGGREGATED.map((name): InitialObject => {
    const matchLabels = addsTo(dialect, name);
    const body = { rules: null, aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } };
    return { metadata: metadata(dialect, name, { body, labels: addsTo(dialect, ADDS_TO[name]) }), ...body };
  });
  const people = roles(CLUSTER_ROLE_TABLE, dialect).map(([name, rules]) => named(name, rules));
  const controllers = roles(CONTROLLER_ROLE_TABLE, dialect).map(([name, rules]) => named(CONTROLLER + name, rules));
  return [...people, ...aggregated, ...controllers];
});

/** The role of the storage version migrator. */
const migratorRoles = oncePerDialect((dialect) =>
  roles(MIGRATOR_ROLE_TABLE, dialect).map(([name, rules]) => {
    const body = { rules };
    return { metadata: metadata(dialect, CONTROLLER + name, { body }), ...body };
  }),
);

/** Some groups and nodes read ClusterTrustBundles. */
const TRUST_BUNDLES = 'system:cluster-trust-bundle-discovery';
const TRUST_BUNDLE_RULE = ' get,list,watch certificates~ clustertrustbundles';
const NODE = 'system:node';

const trustBundleRoles = oncePerDialect((dialect) => {
  const [, nodeRules = []] = roles(CLUSTER_ROLE_TABLE, dialect).find(([name]) => name === NODE) ?? [];
  return roles(`${TRUST_BUNDLES}\n${TRUST_BUNDLE_RULE}\n${NODE}\n${TRUST_BUNDLE_RULE}`, dialect).map(
    ([name, rules]) => {
      const body = { rules: name === NODE ? [...nodeRules, ...rules] : rules };
      return { metadata: metadata(dialect, name, { body }), ...body };
    },
  );
});

const trustBundleBindings = oncePerDialect((dialect) => [
  binding(
    [TRUST_BUNDLES, ...dialect.rules.trustBundleReaders.map((group) => `Group=${group}`)].join(' '),
    'ClusterRole',
    { dialect },
  ),
]);

type ObjectsByDialect = (dialect: Dialect) => readonly InitialObject[];

/** Adds the migrator's objects if migrations are served, and those of an enabled gate. They replace others by name. */
function withOptional(
  always: ObjectsByDialect,
  { migrator, trustBundles }: { readonly migrator: ObjectsByDialect; readonly trustBundles: ObjectsByDialect },
): NonNullable<Kind['initial']> {
  return (dialect, _now, served, _settings, features) => {
    const group = dialect.group(serviceGroup('storagemigration'));
    const isServed = served().some((gv) => gv.group === group);
    const added = [
      ...(isServed ? migrator(dialect) : []),
      ...(features.enabled('ClusterTrustBundle') ? trustBundles(dialect) : []),
    ];
    if (added.length === 0) return always(dialect);
    const names = new Set(added.map(({ metadata: { name } }) => name));
    return [...always(dialect).filter(({ metadata: { name } }) => !names.has(name)), ...added];
  };
}

/** The initial ClusterRoles of a cluster. */
export const clusterRolesFor: NonNullable<Kind['initial']> = withOptional(initialClusterRoles, {
  migrator: migratorRoles,
  trustBundles: trustBundleRoles,
});

export const initialRoles = oncePerDialect((dialect) =>
  ROLE_TABLES.flatMap(([namespace, table]) =>
    roles(table, dialect).map(([name, rules]) => {
      const body = { rules };
      return { metadata: metadata(dialect, name, { namespace, body }), ...body };
    }),
  ),
);

export const initialClusterRoleBindings = oncePerDialect((dialect) => {
  const controllers = roles(CONTROLLER_ROLE_TABLE, dialect).map(([name]) => {
    return `${CONTROLLER}${name} ServiceAccount=${name}`;
  });
  const lines = [...linesOf(CLUSTER_BINDING_TABLE), ...controllers];
  return lines.map((line) => binding(line, 'ClusterRole', { dialect }));
});

const migratorBindings = oncePerDialect((dialect) =>
  roles(MIGRATOR_ROLE_TABLE, dialect).map(([name]) =>
    binding(`${CONTROLLER}${name} ServiceAccount=${name}`, 'ClusterRole', { dialect }),
  ),
);

export const clusterRoleBindingsFor: NonNullable<Kind['initial']> = withOptional(initialClusterRoleBindings, {
  migrator: migratorBindings,
  trustBundles: trustBundleBindings,
});

export const initialRoleBindings = oncePerDialect((dialect) =>
  BINDING_TABLES.flatMap(([namespace, table]) =>
    linesOf(table).map((line) => binding(line, 'Role', { dialect, namespace })),
  ),
);

function oncePerDialect(make: (dialect: Dialect) => readonly InitialObject[]) {
  const made = new Map<Dialect, readonly InitialObject[]>();
  return (dialect: Dialect): readonly InitialObject[] => {
    const objects = made.get(dialect) ?? deepFreeze(make(dialect));
    made.set(dialect, objects);
    return objects;
  };
}

function linesOf(table: string): string[] {
  return table.split('\n').filter((line) => line !== '');
}

/** Parses a table: names of roles and their rules. */
function roles(table: string, dialect: Dialect): (readonly [string, readonly AccessRule[]])[] {
  const found: [string, AccessRule[]][] = [];
  const spelled = table.replaceAll('~', dialect.group(serviceGroup(''))).replaceAll('@', dialect.key(''));
  for (const line of linesOf(spelled)) {
    if (line.startsWith(' ')) found.at(-1)?.[1].push(ruleOf(line));
    else found.push([line, []]);
  }
  return found;
}

function ruleOf(line: string): AccessRule {
  const [verbs = [], apiGroups = [], resources = [], resourceNames] = line
    .trim()
    .split(' ')
    .map((words) => words.split(',').map((word) => (word === '-' ? '' : word)));
  if (apiGroups[0] === '/') return { verbs, nonResourceURLs: resources };
  return { verbs, apiGroups, resources, ...(resourceNames === undefined ? {} : { resourceNames }) };
}

function binding(
  line: string,
  kind: 'Role' | 'ClusterRole',
  { dialect, namespace }: { readonly dialect: Dialect; readonly namespace?: string },
): InitialObject {
  const [names = '', ...given] = line.split(' ');
  const [name = '', role = name] = names.split('=');
  const apiGroup = dialect.group(RBAC_GROUP);
  const subjects = given.map((one) => {
    const [subject = '', who = ''] = one.split('=');
    if (subject === 'ServiceAccount') return { kind: subject, name: who, namespace: SYSTEM };
    return { kind: subject, apiGroup, name: who };
  });
  const body = { ...(subjects.length === 0 ? {} : { subjects }), roleRef: { apiGroup, kind, name: role } };
  const where = namespace === undefined ? {} : { namespace };
  return { metadata: metadata(dialect, name, { ...where, body }), ...body };
}

/** The label that adds a role's rules to an aggregated role. */
function addsTo(dialect: Dialect, target: string | undefined): Readonly<Record<string, string>> {
  return target === undefined ? {} : { [`${dialect.group(RBAC_GROUP)}/aggregate-to-${target}`]: 'true' };
}

function metadata(
  dialect: Dialect,
  name: string,
  options: {
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly body: Readonly<Record<string, unknown>>;
  },
): InitialObject['metadata'] {
  const annotations = { [dialect.subkey('rbac.authorization', 'autoupdate')]: 'true' };
  const labels = { [dialect.key('bootstrapping')]: 'rbac-defaults', ...options.labels };
  const owned: Record<string, FieldSet> = {
    'f:metadata': { 'f:annotations': keysOf(annotations), 'f:labels': keysOf(labels) },
  };
  for (const field of Object.keys(options.body)) {
    // The only field with nested ownership.
    owned[fieldElement(field)] = field === 'aggregationRule' ? { '.': LEAF, 'f:clusterRoleSelectors': LEAF } : LEAF;
  }
  const fields = sortedRecord(Object.entries(owned));
  return {
    name,
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    labels,
    annotations,
    managers: [{ manager: SERVER_MANAGER, fields }],
  };
}

function keysOf(record: Readonly<Record<string, string>>): FieldSet {
  const keys = Object.keys(record).sort();
  return Object.fromEntries([['.', LEAF], ...keys.map((key) => [fieldElement(key), LEAF])]);
}
