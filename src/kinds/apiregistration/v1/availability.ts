/**
 * Whether who answers for a version can be reached, as far as the objects of the cluster tell. Only whether it answers is
 * left open here: for that it has to be asked.
 */

import type { GroupResource } from '../../../meta/gvk.js';
import type { DeepReadonly } from '../../../meta/object.js';
import { quote } from '../../../text/go/go-text.js';
import type { Endpoints } from '../../core/v1/endpoints.js';
import type { Service } from '../../core/v1/service/service.js';
import type { APIServiceCondition, ServiceReference } from '../../generated/apiregistration-v1.js';
import type { APIService } from './api-service.js';

/** The condition without its time. */
export type AvailableCondition = Omit<APIServiceCondition, 'lastTransitionTime'>;

export const SERVICES: GroupResource = { group: '', resource: 'services' };
export const ENDPOINTS: GroupResource = { group: '', resource: 'endpoints' };

export const AVAILABLE = 'Available';

/** Of versions that this server serves itself. */
export const LOCAL: AvailableCondition = {
  type: AVAILABLE,
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

/** Of those that have answered. */
export const PASSED: AvailableCondition = {
  type: AVAILABLE,
  status: 'True',
  reason: 'Passed',
  message: 'all checks passed',
};

/** The reason of those that have not. */
export const FAILED_CHECK = 'FailedDiscoveryCheck';

/** What is looked at; undefined: there is no such object. */
export interface AvailabilityView {
  service(namespace: string, name: string): Service | undefined;
  endpoints(namespace: string, name: string): Endpoints | undefined;
}

/** Why it cannot be reached; undefined: nothing speaks against it. */
export function whyUnreachable(reference: ServiceReference, view: AvailabilityView): AvailableCondition | undefined {
  const { namespace = '', name = '', port } = reference;
  const where = `service/${name} in ${quote(namespace)}`;
  const service = view.service(namespace, name);
  if (service === undefined) return unavailable('ServiceNotFound', `${where} is not present`);
  // Whatever other services lead to is not for the cluster to know.
  if (service.spec.type !== 'ClusterIP') return undefined;
  const open = service.spec.ports?.find((candidate) => candidate.port === port);
  if (open === undefined) return unavailable('ServicePortError', `${where} is not listening on port ${port}`);
  const endpoints = view.endpoints(namespace, name);
  if (endpoints === undefined) return unavailable('EndpointsNotFound', `cannot find endpoints for ${where}`);
  const portName = open.name ?? '';
  const isServed = endpoints.subsets?.some(
    ({ addresses = [], ports = [] }) => addresses.length > 0 && ports.some((one) => (one.name ?? '') === portName),
  );
  if (isServed === true) return undefined;
  return unavailable('MissingEndpoints', `endpoints for ${where} have no addresses with port name ${quote(portName)}`);
}

export function failedCheck(message: string): AvailableCondition {
  return unavailable(FAILED_CHECK, message);
}

function unavailable(reason: string, message: string): AvailableCondition {
  return { type: AVAILABLE, status: 'False', reason, message };
}

/** The condition in the order of its fields. */
export function datedCondition(condition: AvailableCondition, lastTransitionTime: string | null): APIServiceCondition {
  const { type, status, ...why } = condition;
  return { type, status, lastTransitionTime, ...why };
}

export function availableOf({ status }: Pick<DeepReadonly<APIService>, 'status'>): APIServiceCondition | undefined {
  return status.conditions?.find(({ type }) => type === AVAILABLE);
}

/**
 * The conditions with this one among them; undefined: nothing changes. It is as old as its status, however its reason
 * changed.
 */
export function withAvailable(
  { status }: Pick<APIService, 'status'>,
  next: AvailableCondition,
  now: string,
): readonly APIServiceCondition[] | undefined {
  const { conditions = [] } = status;
  const before = conditions.find(({ type }) => type === AVAILABLE);
  if (before === undefined) return [...conditions, datedCondition(next, now)];
  const { status: was, reason, message, lastTransitionTime } = before;
  if (was === next.status && reason === next.reason && message === next.message) return undefined;
  const changed = datedCondition(next, was === next.status ? (lastTransitionTime ?? null) : now);
  return conditions.map((condition) => (condition === before ? changed : condition));
}
