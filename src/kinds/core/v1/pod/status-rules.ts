/**
 * The `status` subresource of pods: preparation, validation and warnings.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, duplicate, fieldError, forbidden, invalid, keyPath } from '../../../../meta/field-error.js';
import { ipWarnings, isDualStack, parseIpSloppy, validIpProblems } from '../../../../meta/ip.js';
import { dnsSubdomainProblems, qualifiedNameProblems } from '../../../../meta/names.js';
import { quote, verbatim } from '../../../../text/go/go-text.js';
import type {
  Container,
  ContainerStatus,
  PodCondition,
  PodStatus,
  ResourceStatus,
} from '../../../generated/core-v1.js';
import type { HookContext } from '../../../kind.js';
import { repeatedIndexes, valueErrors } from '../../../shared/field-rules.js';
import { statusSubresource } from '../../../shared/strategies.js';
import type { SubresourceStrategy } from '../../../subresource.js';
import { idProblems } from '../pod-spec/validate-security.js';
import type { Pod } from './pod.js';
import { annotationsUpdateProblems } from './validate.js';

const CLAIM_PREFIX = 'claim:';

const HEALTH_STATUSES = ['Healthy', 'Unhealthy', 'Unknown'];

export const podStatusSubresource: SubresourceStrategy<Pod> = statusSubresource({
  metadata: ['ownerReferences'],
  ownableFields: { except: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'] },
  prepare,
  validate: validateUpdate,
  warnings,
});

function prepare(draft: Pod, before: Pod, { features }: HookContext): void {
  const { status } = draft;
  // A status update cannot set a deletionTimestamp.
  if (before.metadata.deletionTimestamp === undefined) delete draft.metadata.deletionTimestamp;
  // Clients that do not know qosClass must not remove it.
  if (status.qosClass === undefined && before.status.qosClass !== undefined) status.qosClass = before.status.qosClass;
  if (!features.enabled('PodObservedGenerationTracking') && !hasObservedGenerations(before.status)) {
    delete status.observedGeneration;
    for (const condition of status.conditions ?? []) delete condition.observedGeneration;
  }
  if (!features.enabled('ResourceHealthStatus')) dropHealth(status, before.status);
  if (!features.enabled('DynamicResourceAllocation') && (before.spec.resourceClaims ?? []).length === 0) {
    delete status.resourceClaimStatuses;
  }
}

function hasObservedGenerations({ observedGeneration, conditions = [] }: PodStatus): boolean {
  return observedGeneration !== undefined || conditions.some((condition) => condition.observedGeneration !== undefined);
}

const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;

function dropHealth(status: PodStatus, live: PodStatus): void {
  const all = (of: PodStatus) => STATUS_LISTS.flatMap((list) => of[list] ?? []);
  if (all(live).some(({ allocatedResourcesStatus = [] }) => allocatedResourcesStatus.length > 0)) return;
  for (const container of all(status)) delete container.allocatedResourcesStatus;
}

function validateUpdate(pod: Pod, before: Pod, context: HookContext): readonly FieldError[] {
  const { status } = pod;
  return [
    ...annotationsUpdateProblems(pod, before, context),
    ...conditionsProblems('status.conditions', status.conditions ?? []),
    ...nominatedNodeNameProblems(status.nominatedNodeName, before.status.nominatedNodeName),
    ...(status.qosClass === before.status.qosClass
      ? []
      : [invalid('status.qosClass', status.qosClass ?? '', 'field is immutable')]),
    ...containerStateProblems(pod, before),
    ...claimsProblems(pod),
    ...podIpsProblems(status, before.status),
    ...hostIpsProblems(status, before.status),
    ...containerStatusesProblems(pod),
  ];
}

const SYSTEM_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized'];

/** The capital letter in the path is the reference server's. */
function conditionsProblems(path: string, conditions: readonly PodCondition[]): FieldError[] {
  return conditions.flatMap(({ type }, index) => {
    if (SYSTEM_CONDITIONS.includes(type)) return [];
    const at = childPath(keyPath(path, index), 'Type');
    return qualifiedNameProblems(type).map((problem) => invalid(at, type, problem));
  });
}

function nominatedNodeNameProblems(name: string | undefined, live: string | undefined): FieldError[] {
  if (name === undefined || name === live) return [];
  return dnsSubdomainProblems(name).map((problem) => invalid('status.nominatedNodeName', name, problem));
}

/** Terminated containers that may not restart must stay terminated. */
function containerStateProblems(pod: Pod, before: Pod): FieldError[] {
  const { restartPolicy, initContainers = [] } = before.spec;
  const sidecars = new Set(initContainers.filter((one) => one.restartPolicy === 'Always').map(({ name }) => name));
  const mayRestart = (policy: string) => (status: ContainerStatus) =>
    policy === 'Always' || (policy === 'OnFailure' && (status.state.terminated?.exitCode ?? 0) !== 0);
  const initMayRestart = (status: ContainerStatus) => sidecars.has(status.name) || mayRestart(restartPolicy)(status);
  return [
    ...transitionProblems('containerStatuses', pod, before, mayRestart(restartPolicy)),
    ...transitionProblems('initContainerStatuses', pod, before, initMayRestart),
    ...transitionProblems('ephemeralContainerStatuses', pod, before, () => false),
  ];
}

/** One error per container with the name, as in the reference server; without a limit they could grow quadratically. */
const MAX_REPEATS = 10;

function transitionProblems(
  list: (typeof STATUS_LISTS)[number],
  pod: Pod,
  before: Pod,
  mayRestart: (status: ContainerStatus) => boolean,
): FieldError[] {
  const running = new Map<string, number>();
  for (const { name, state } of pod.status[list] ?? []) {
    if (state.terminated === undefined) running.set(name, (running.get(name) ?? 0) + 1);
  }
  return (before.status[list] ?? []).flatMap((status, index) => {
    if (status.state.terminated === undefined || mayRestart(status)) return [];
    const at = childPath(keyPath(`status.${list}`, index), 'state');
    const revived = forbidden(at, 'may not be transitioned to non-terminated state');
    return Array.from({ length: Math.min(running.get(status.name) ?? 0, MAX_REPEATS) }, () => revived);
  });
}

function claimsProblems({ spec, status }: Pod): FieldError[] {
  const claimNames = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const statuses = status.resourceClaimStatuses ?? [];
  const repeated = repeatedIndexes(statuses.map(({ name }) => name));
  return statuses.flatMap(({ name, resourceClaimName }, index) => {
    const at = keyPath('status.resourceClaimStatuses', index);
    const unknown = 'must match the name of an entry in `spec.resourceClaims`';
    return [
      ...(claimNames.has(name) ? [] : [invalid(childPath(at, 'name'), name, unknown)]),
      ...(repeated.has(index) ? [duplicate(childPath(at, 'name'), name)] : []),
      ...(resourceClaimName === undefined
        ? []
        : dnsSubdomainProblems(resourceClaimName).map((problem) =>
            invalid(childPath(at, 'name'), resourceClaimName, problem),
          )),
    ];
  });
}

function podIpsProblems({ podIPs = [] }: PodStatus, live: PodStatus): FieldError[] {
  return addressesProblems('status.podIPs', podIPs, { live: live.podIPs, goType: 'core.PodIP' });
}

function hostIpsProblems({ hostIP = '', hostIPs = [] }: PodStatus, live: PodStatus): FieldError[] {
  if (hostIPs.length === 0) return [];
  const path = 'status.hostIPs';
  const first = hostIPs[0]?.ip ?? '';
  return [
    ...(first === hostIP ? [] : [invalid(childPath(keyPath(path, 0), 'ip'), first, 'must be equal to `hostIP`')]),
    ...addressesProblems(path, hostIPs, { live: live.hostIPs, goType: 'core.HostIP' }),
  ];
}

type Addresses = readonly { readonly ip?: string }[];

/** Addresses of the live object are not validated again. */
function addressesProblems(
  path: string,
  ips: Addresses,
  { live = [], goType }: { readonly live: Addresses | undefined; readonly goType: string },
): FieldError[] {
  const texts = ips.map(({ ip = '' }) => ip);
  const liveIps = new Set(live.map(({ ip = '' }) => ip));
  const problems = texts.flatMap((ip, index) =>
    liveIps.has(ip) ? [] : validIpProblems(ip).map((problem) => invalid(keyPath(path, index), ip, problem)),
  );
  return texts.length < 2 ? problems : [...problems, ...onePerFamilyProblems(path, texts, goType)];
}

function onePerFamilyProblems(path: string, ips: readonly string[], goType: string): FieldError[] {
  const families = ips.map((ip) => parseIpSloppy(ip)?.family);
  const parsedFamilies = families.flatMap((family) => (family === undefined ? [] : [family]));
  const bad = families.indexOf(undefined);
  const problems: FieldError[] = [];
  if (bad >= 0) {
    const detail = `failed to check for dual stack with error:invalid IP[${bad}]: ${ips[bad]}`;
    problems.push(fieldError('internal', path, { detail }));
  }
  if (bad < 0 && isDualStack(parsedFamilies) && ips.length === 2) return problems;
  const value = verbatim(`[]${goType}{${ips.map((ip) => `${goType}{IP:${quote(ip)}}`).join(', ')}}`);
  return [...problems, invalid(path, value, 'may specify no more than one IP for each IP family')];
}

/** Warns about addresses that other programs may parse differently. */
function warnings(object: Pod): string[] {
  const { podIPs = [], hostIPs = [] } = object.status;
  return [
    ...podIPs.flatMap(({ ip }, index) => ipWarnings(childPath(keyPath('status.podIPs', index), 'ip'), ip ?? '')),
    ...hostIPs.flatMap(({ ip }, index) => ipWarnings(childPath(keyPath('status.hostIPs', index), 'ip'), ip ?? '')),
  ];
}

function containerStatusesProblems({ spec, status }: Pod): FieldError[] {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const { containers = [], initContainers = [] } = spec;
  const windows = spec.os?.name === 'windows';
  return [
    ...usersProblems('status.containerStatuses', containerStatuses, windows),
    ...usersProblems('status.initContainerStatuses', initContainerStatuses, windows),
    ...usersProblems('status.ephemeralContainerStatuses', ephemeralContainerStatuses, windows),
    ...healthProblems('status.containerStatuses', containerStatuses, containers),
    ...healthProblems('status.initContainerStatuses', initContainerStatuses, initContainers),
    ...ephemeralContainerStatuses.flatMap(({ allocatedResourcesStatus = [] }, index) => {
      if (allocatedResourcesStatus.length === 0) return [];
      const at = childPath(keyPath('status.ephemeralContainerStatuses', index), 'allocatedResourcesStatus');
      return [forbidden(at, 'must not be specified in container status')];
    }),
  ];
}

function usersProblems(path: string, statuses: readonly ContainerStatus[], windows: boolean): FieldError[] {
  return statuses.flatMap(({ user }, index) => {
    const linux = user?.linux;
    if (linux === undefined) return [];
    const at = childPath(keyPath(path, index), 'user.linux');
    if (windows) return [forbidden(at, 'cannot be set for a windows pod')];
    const { uid, gid, supplementalGroups = [] } = linux;
    return [
      ...idProblems(childPath(at, 'uid'), uid),
      ...idProblems(childPath(at, 'gid'), gid),
      ...supplementalGroups.flatMap((group, place) =>
        idProblems(keyPath(childPath(at, 'supplementalGroups'), place), group),
      ),
    ];
  });
}

function healthProblems(
  path: string,
  statuses: readonly ContainerStatus[],
  containers: readonly Container[],
): FieldError[] {
  if (!statuses.some(({ allocatedResourcesStatus = [] }) => allocatedResourcesStatus.length > 0)) return [];
  // Of several containers with one name, the first counts.
  const byName = new Map(containers.toReversed().map(({ name, resources }) => [name, requestedResources(resources)]));
  return statuses.flatMap(({ name, allocatedResourcesStatus = [] }, index) => {
    // The spec may lack a container of this name.
    const requested = byName.get(name);
    return allocatedResourcesStatus.flatMap((resource, place) => {
      const at = keyPath(childPath(keyPath(path, index), 'allocatedResourcesStatus'), place);
      const ofName = requested === undefined ? [] : resourceNameProblems(childPath(at, 'name'), resource, requested);
      return [...ofName, ...deviceProblems(childPath(at, 'resources'), resource)];
    });
  });
}

interface RequestedResources {
  readonly requests: Readonly<Record<string, string>>;
  /** The names under which the status reports claims. */
  readonly claims: ReadonlySet<string>;
}

function requestedResources({ requests = {}, claims = [] }: Container['resources']): RequestedResources {
  const nameOf = ({ name, request }: (typeof claims)[number]) =>
    `${CLAIM_PREFIX}${name}${request === undefined ? '' : `/${request}`}`;
  return { requests, claims: new Set(claims.map(nameOf)) };
}

function resourceNameProblems(
  path: string,
  { name }: ResourceStatus,
  { requests, claims }: RequestedResources,
): FieldError[] {
  // Resource names print without quotes.
  const reported = verbatim(name);
  if (!name.startsWith(CLAIM_PREFIX)) {
    if (Object.hasOwn(requests, name)) return [];
    return [invalid(path, reported, "must match one of the container's resource requests")];
  }
  if (claims.has(name)) return [];
  const detail =
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  return [invalid(path, reported, detail)];
}

function deviceProblems(path: string, { resources = [] }: ResourceStatus): FieldError[] {
  const repeated = repeatedIndexes(resources.map(({ resourceID }) => resourceID));
  return resources.flatMap(({ resourceID, health = '' }, index) => {
    const at = keyPath(path, index);
    return [
      ...valueErrors(childPath(at, 'health'), health, HEALTH_STATUSES),
      ...(repeated.has(index) ? [duplicate(childPath(at, 'resourceID'), resourceID)] : []),
    ];
  });
}
