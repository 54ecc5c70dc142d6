/** Flow control over a few objects, without a cluster. */

import { createFlowControl } from '../../../src/flowcontrol/flow-control.js';
import type { FlowControlOptions, FlowRequest, FlowTicket } from '../../../src/flowcontrol/types.js';
import { featureGates } from '../../../src/kinds/feature-gates.js';
import { FlowSchema, PriorityLevelConfiguration } from '../../../src/kinds/flowcontrol/index.js';
import { DEFAULT_SETTINGS } from '../../../src/kinds/shared/cluster-settings.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import type { GroupResource } from '../../../src/meta/gvk.js';
import type { ApiObject } from '../../../src/meta/object.js';
import type { ResourceAttributes } from '../../../src/protocol/access.js';
import { fakeClock } from '../../../src/testing/fake-clock.js';
import { isPromise } from '../../../src/util/maybe-promise.js';

type Objects = Record<string, { metadata: { name: string; uid: string }; spec: unknown }>;

/** Mutable objects: `write` increments their write count. */
export function flowServer(
  given: { flows?: Record<string, object | undefined>; levels?: Record<string, object | undefined> } = {},
  options: Partial<FlowControlOptions> = {},
) {
  const dialect = options.dialect ?? kubernetesDialect;
  const seed = (kind: typeof FlowSchema | typeof PriorityLevelConfiguration): Objects =>
    Object.fromEntries(
      (kind.initial?.(dialect, '', () => [], DEFAULT_SETTINGS, featureGates()) ?? []).map(
        ({ metadata: { name }, spec }) => [name, { metadata: { name, uid: `${kind.kind} ${name}` }, spec }],
      ),
    );
  const tables: Record<string, Objects> = {
    flowschemas: seed(FlowSchema),
    prioritylevelconfigurations: seed(PriorityLevelConfiguration),
  };
  let version = 1;
  const clock = fakeClock();
  const table = ({ resource }: GroupResource): Objects => tables[resource] ?? {};
  const put = (resource: string, objects: Record<string, object | undefined>) => {
    version++;
    for (const [name, spec] of Object.entries(objects)) {
      const at = table({ group: '', resource });
      if (spec === undefined) delete at[name];
      else at[name] = { metadata: { name, uid: `${resource} ${name}` }, spec };
    }
  };
  const server = {
    clock,
    flow: createFlowControl({
      objects: {
        get: ({ name, ...resource }) => table(resource)[name] as unknown as ApiObject | undefined,
        list: (resource) => Object.values(table(resource)) as unknown as readonly ApiObject[],
      },
      lastChange: () => version,
      clock,
      dialect,
      ...options,
    }),
    putFlows: (flows: Record<string, object | undefined>) => put('flowschemas', flows),
    putLevels: (levels: Record<string, object | undefined>) => put('prioritylevelconfigurations', levels),
  };
  server.putFlows(given.flows ?? {});
  server.putLevels(given.levels ?? {});
  return server;
}

/** A level on which requests wait in queues. */
export const queued = (
  shares: number,
  queuing: { queues?: number; handSize?: number; queueLengthLimit?: number } = {},
  more = {},
) => ({
  type: 'Limited',
  limited: {
    nominalConcurrencyShares: shares,
    lendablePercent: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50, ...queuing } },
    ...more,
  },
});

/** A schema that matches all requests of a user. */
export const flowOf = (
  user: string,
  level: string,
  matchingPrecedence = 50,
  method: string | undefined = 'ByUser',
) => ({
  priorityLevelConfiguration: { name: level },
  matchingPrecedence,
  ...(method === undefined ? {} : { distinguisherMethod: { type: method } }),
  rules: [
    {
      subjects: [{ kind: 'User', user: { name: user } }],
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    },
  ],
});

export const requestDigest = (
  user: string,
  about: Partial<ResourceAttributes> = {},
  groups = ['system:authenticated'],
): FlowRequest => ({
  user: { user, groups },
  attributes: {
    type: 'resource',
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'n',
    name: 'x',
    ...about,
  },
});

/** A ticket that was issued synchronously. */
export function atOnce(admitted: ReturnType<ReturnType<typeof createFlowControl>['admit']>): FlowTicket {
  if (isPromise(admitted)) throw new Error('it has to wait');
  return admitted;
}
