/**
 * What the status of a pod says of its containers: who they run as, and how the devices they were given are.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, duplicate, forbidden, invalid, keyPath, notSupported } from '../../../../meta/field-error.js';
import { verbatim } from '../../../../text/go/go-text.js';
import type { Container } from '../pod-spec/container.js';
import { idProblems } from '../pod-spec/validate-security.js';
import type { Pod } from './pod.js';
import type { ContainerStatus, ResourceStatus } from './status.js';

export function containerStatusesProblems({ spec, status }: Pod): FieldError[] {
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
  return statuses.flatMap(({ name, allocatedResourcesStatus = [] }, index) => {
    // A status may be that of a container nobody asked for.
    const container = containers.find((one) => one.name === name);
    return allocatedResourcesStatus.flatMap((resource, place) => {
      const at = keyPath(childPath(keyPath(path, index), 'allocatedResourcesStatus'), place);
      const ofName = container === undefined ? [] : resourceNameProblems(childPath(at, 'name'), resource, container);
      return [...ofName, ...deviceProblems(childPath(at, 'resources'), resource)];
    });
  });
}

const CLAIM = 'claim:';

function resourceNameProblems(path: string, { name }: ResourceStatus, { resources }: Container): FieldError[] {
  const { claims = [], requests = {} } = resources;
  // Names of resources print without quotes.
  const shown = verbatim(name);
  if (!name.startsWith(CLAIM)) {
    if (Object.hasOwn(requests, name)) return [];
    return [invalid(path, shown, "must match one of the container's resource requests")];
  }
  const known = claims.map((claim) => `${CLAIM}${claim.name}${claim.request === undefined ? '' : `/${claim.request}`}`);
  if (known.includes(name)) return [];
  const detail =
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  return [invalid(path, shown, detail)];
}

const HEALTH = ['Healthy', 'Unhealthy', 'Unknown'];

function deviceProblems(path: string, { resources = [] }: ResourceStatus): FieldError[] {
  return resources.flatMap(({ resourceID, health = '' }, index) => {
    const at = keyPath(path, index);
    const isRepeated = resources.findIndex((other) => other.resourceID === resourceID) < index;
    return [
      ...(HEALTH.includes(health) ? [] : [notSupported(childPath(at, 'health'), health, HEALTH)]),
      ...(isRepeated ? [duplicate(childPath(at, 'resourceID'), resourceID)] : []),
    ];
  });
}
