/**
 * The initial FlowSchemas of a cluster: the mandatory ones `exempt` and `catch-all`, and the suggested ones, which
 * isolate the control plane components from each other.
 */
import { type Dialect, serviceGroup } from '../../../../meta/dialect.js';
import type { FlowSchemaSpec, ResourcePolicyRule, Subject } from '../../../generated/flowcontrol-v1.js';

type Rule = NonNullable<FlowSchemaSpec['rules']>[number];

const CONTROLLER_MANAGER = 'system:kube-controller-manager';
const SCHEDULER = 'system:kube-scheduler';
const ALL_USERS = ['system:unauthenticated', 'system:authenticated'];

const groups = (...names: string[]): Subject[] => names.map((name) => ({ kind: 'Group', group: { name } }));
const users = (...names: string[]): Subject[] => names.map((name) => ({ kind: 'User', user: { name } }));
const accounts = (...names: string[]): Subject[] =>
  names.map((name) => ({ kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name } }));

const ALL: ResourcePolicyRule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  clusterScope: true,
  namespaces: ['*'],
};

const everything = (subjects: Subject[]): Rule => ({
  subjects,
  resourceRules: [ALL],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
});

/** A rule for the objects that leader election uses, in all namespaces. */
const locks = (apiGroup: string, ...resources: string[]): ResourcePolicyRule => ({
  verbs: ['get', 'create', 'update'],
  apiGroups: [apiGroup],
  resources,
  namespaces: ['*'],
});

function spec(level: string, precedence: number, method: 'ByUser' | 'ByNamespace' | undefined, rule: Rule) {
  return {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(method === undefined ? {} : { distinguisherMethod: { type: method } }),
    rules: [rule],
  } satisfies FlowSchemaSpec;
}

/** The spec of a mandatory FlowSchema; undefined for other names. */
export function mandatoryFlow(name: string): FlowSchemaSpec | undefined {
  if (name === 'exempt') return spec(name, 1, undefined, everything(groups('system:masters')));
  if (name === 'catch-all') return spec(name, 10_000, 'ByUser', everything(groups(...ALL_USERS)));
  return undefined;
}

/** The suggested FlowSchemas by name. Users may change them. */
export function suggestedFlows(dialect: Dialect): Readonly<Record<string, FlowSchemaSpec>> {
  const coordination = dialect.group(serviceGroup('coordination'));
  const leases = locks(coordination, 'leases');
  return {
    probes: spec('exempt', 2, undefined, {
      subjects: groups(...ALL_USERS),
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
    }),
    'system-leader-election': spec('leader-election', 100, 'ByUser', {
      subjects: [...users(CONTROLLER_MANAGER, SCHEDULER), ...accounts('*')],
      resourceRules: [leases],
    }),
    'endpoint-controller': spec('workload-high', 150, 'ByUser', {
      subjects: [...users(CONTROLLER_MANAGER), ...accounts('endpoint-controller', 'endpointslicemirroring-controller')],
      resourceRules: [locks('', 'endpoints')],
    }),
    'workload-leader-election': spec('leader-election', 200, 'ByUser', {
      subjects: accounts('*'),
      resourceRules: [locks('', 'endpoints', 'configmaps'), leases],
    }),
    'system-node-high': spec('node-high', 400, 'ByUser', {
      subjects: groups('system:nodes'),
      resourceRules: [
        { ...ALL, apiGroups: [''], resources: ['nodes', 'nodes/status'] },
        { verbs: ['*'], apiGroups: [coordination], resources: ['leases'], namespaces: ['*'] },
      ],
    }),
    'system-nodes': spec('system', 500, 'ByUser', everything(groups('system:nodes'))),
    'kube-controller-manager': spec('workload-high', 800, 'ByNamespace', everything(users(CONTROLLER_MANAGER))),
    'kube-scheduler': spec('workload-high', 800, 'ByNamespace', everything(users(SCHEDULER))),
    'kube-system-service-accounts': spec('workload-high', 900, 'ByNamespace', everything(accounts('*'))),
    'service-accounts': spec('workload-low', 9000, 'ByUser', everything(groups('system:serviceaccounts'))),
    'global-default': spec('global-default', 9900, 'ByUser', everything(groups(...ALL_USERS))),
  };
}
