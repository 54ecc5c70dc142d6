/**
 * Computes the Available condition of an APIService from the cluster's Services and Endpoints. The controller for
 * APIServices checks whether the server responds.
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

/** The resource of Services. */
export const SERVICES: GroupResource = { group: '', resource: 'services' };
/** The resource of Endpoints. */
export const ENDPOINTS: GroupResource = { group: '', resource: 'endpoints' };

/** The type of the condition. */
export const AVAILABLE = 'Available';

/** The condition of versions that this server serves. */
export const LOCAL: AvailableCondition = {
  type: AVAILABLE,
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

/** The condition of servers that responded. */
export const PASSED: AvailableCondition = {
  type: AVAILABLE,
  status: 'True',
  reason: 'Passed',
  message: 'all checks passed',
};

/** The reason for servers that did not respond. */
export const FAILED_CHECK = 'FailedDiscoveryCheck';

/** The objects that the condition depends on. */
export interface AvailabilityView {
  service(namespace: string, name: string): Service | undefined;
  endpoints(namespace: string, name: string): Endpoints | undefined;
}

/** The condition of a Service that cannot be reached; undefined if no object shows a problem. */
export function unreachableCondition(
  reference: ServiceReference,
  view: AvailabilityView,
): AvailableCondition | undefined {
  const { namespace = '', name = '', port } = reference;
  const where = `service/${name} in ${quote(namespace)}`;
  const service = view.service(namespace, name);
  if (service === undefined) return unavailable('ServiceNotFound', `${where} is not present`);
  // The cluster has no information about the backends of other service types.
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

/** The condition of a server that did not respond. */
export function failedCheck(message: string): AvailableCondition {
  return unavailable(FAILED_CHECK, message);
}

function unavailable(reason: string, message: string): AvailableCondition {
  return { type: AVAILABLE, status: 'False', reason, message };
}

/** Adds the time to a condition, with the fields in wire order. */
export function datedCondition(condition: AvailableCondition, lastTransitionTime: string | null): APIServiceCondition {
  const { type, status, ...why } = condition;
  return { type, status, lastTransitionTime, ...why };
}

/** The Available condition of an APIService. */
export function availableOf({ status }: Pick<DeepReadonly<APIService>, 'status'>): APIServiceCondition | undefined {
  return status.conditions?.find(({ type }) => type === AVAILABLE);
}

/**
 * Returns the conditions with this one set; undefined if nothing changes. The transition time changes with the status
 * only.
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
