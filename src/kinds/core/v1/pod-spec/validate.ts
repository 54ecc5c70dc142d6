/**
 * Validation of a pod spec. The rules run in the order in which the reference server reports errors.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath, notSupported, required } from '../../../../meta/field-error.js';
import { labelErrors } from '../../../../meta/labels.js';
import { dnsLabelProblems, qualifiedNameProblems } from '../../../../meta/names.js';
import { Quantity } from '../../../../meta/quantity.js';
import { own } from '../../../../util/json.js';
import type { PodReadinessGate, PodSpec } from '../../../generated/core-v1.js';
import { valueErrors } from '../../../shared/field-rules.js';
import { validateAffinity } from '../../../shared/node-selector.js';
import { isHugePages, validateResourceRequirements } from '../../../shared/resources.js';
import { validateTolerations } from '../../../shared/tolerations.js';
import type { PodSpecContext } from './context.js';
import {
  type ContainerContext,
  containersProblems,
  ephemeralContainersProblems,
  hostNetworkProblems,
  initContainersProblems,
} from './validate-containers.js';
import {
  dnsProblems,
  gatesProblems,
  hostAliasesProblems,
  resourceClaimsProblems,
  spreadProblems,
  subdomainProblems,
} from './validate-scheduling.js';
import { hostUsersProblems, podSecurityProblems } from './validate-security.js';
import { volumesProblems } from './validate-volumes.js';
import { hostProcessProblems, osProblems } from './validate-windows.js';

const POD_LEVEL_RESOURCES = ['cpu', 'hugepages-', 'memory'];

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

/** Validates the spec of a pod or a template at `path`. */
export function podSpecProblems(path: string, spec: PodSpec, context: PodSpecContext): FieldError[] {
  const at = (field: string) => childPath(path, field);
  const { restartPolicy, dnsPolicy, resourceClaims = [], overhead } = spec;
  const { problems, volumeSources } = volumesProblems(at('volumes'), spec.volumes, context);
  const containerContext = containerContextOf(spec, volumeSources, context);
  return [
    ...problems,
    ...resourceClaimsProblems(at('resourceClaims'), resourceClaims, context),
    ...containersProblems(at('containers'), spec, containerContext),
    ...initContainersProblems(at('initContainers'), spec, containerContext),
    ...ephemeralContainersProblems(at('ephemeralContainers'), spec, containerContext),
    ...podResourcesProblems(at('resources'), spec, context),
    ...hostNetworkProblems(path, spec, context),
    ...valueErrors(at('restartPolicy'), restartPolicy, RESTART_POLICIES),
    ...valueErrors(at('dnsPolicy'), dnsPolicy, DNS_POLICIES),
    ...labelErrors(spec.nodeSelector ?? {}, at('nodeSelector')),
    ...podSecurityProblems(at('securityContext'), spec.securityContext, spec),
    ...(spec.affinity === undefined
      ? []
      : validateAffinity(at('affinity'), spec.affinity, affinityRelaxations(context.live))),
    ...dnsProblems(at('dnsConfig'), spec, context),
    ...readinessProblems(at('readinessGates'), spec.readinessGates ?? []),
    ...gatesProblems(at('schedulingGates'), spec.schedulingGates ?? []),
    ...spreadProblems(at('topologySpreadConstraints'), spec.topologySpreadConstraints ?? []),
    ...hostProcessProblems(path, spec),
    ...hostUsersProblems(path, spec),
    ...subdomainProblems(at('serviceAccountName'), spec.serviceAccountName),
    ...subdomainProblems(at('nodeName'), spec.nodeName),
    ...deadlineProblems(at('activeDeadlineSeconds'), spec.activeDeadlineSeconds),
    ...labelProblems(at('hostname'), spec.hostname),
    ...labelProblems(at('subdomain'), spec.subdomain),
    ...validateTolerations(at('tolerations'), spec.tolerations ?? []),
    ...hostAliasesProblems(at('hostAliases'), spec.hostAliases ?? []),
    ...subdomainProblems(at('priorityClassName'), spec.priorityClassName),
    ...subdomainProblems(at('runtimeClassName'), spec.runtimeClassName),
    ...preemptionProblems(at('preemptionPolicy'), spec.preemptionPolicy),
    ...(overhead === undefined ? [] : validateResourceRequirements(at('overhead'), { limits: overhead }, context)),
    ...osProblems(path, spec),
  ];
}

/** Invalid label values in selectors are accepted if the live affinity is already invalid. */
function affinityRelaxations(live: PodSpec | undefined): {
  allowInvalidNodeValues?: boolean;
  allowInvalidSelectorValues?: boolean;
} {
  if (live?.affinity === undefined || validateAffinity('', live.affinity).length === 0) return {};
  return { allowInvalidNodeValues: true, allowInvalidSelectorValues: true };
}

function containerContextOf(
  spec: PodSpec,
  volumeSources: ContainerContext['volumeSources'],
  context: PodSpecContext,
): ContainerContext {
  return {
    volumeSources,
    podClaimNames: new Set((spec.resourceClaims ?? []).map(({ name }) => name)),
    gracePeriod: spec.terminationGracePeriodSeconds,
    os: spec.os,
    restartPolicy: spec.restartPolicy,
    hostUsers: spec.hostUsers !== false,
    ...context,
  };
}

function readinessProblems(path: string, gates: readonly PodReadinessGate[]): FieldError[] {
  return gates.flatMap(({ conditionType }, index) => {
    const at = childPath(keyPath(path, index), 'conditionType');
    return qualifiedNameProblems(conditionType).map((problem) => invalid(at, conditionType, problem));
  });
}

const MAX_SECONDS = 2 ** 31 - 1;

function deadlineProblems(path: string, seconds: number | undefined): FieldError[] {
  if (seconds === undefined || (seconds >= 1 && seconds <= MAX_SECONDS)) return [];
  return [invalid(path, seconds, `must be between 1 and ${MAX_SECONDS}, inclusive`)];
}

function labelProblems(path: string, name: string | undefined): FieldError[] {
  if (name === undefined) return [];
  return dnsLabelProblems(name).map((problem) => invalid(path, name, problem));
}

const PREEMPTION = ['PreemptLowerPriority', 'Never'];

function preemptionProblems(path: string, policy: string | undefined): FieldError[] {
  if (policy === undefined || PREEMPTION.includes(policy)) return [];
  return policy === '' ? [required(path)] : [notSupported(path, policy, PREEMPTION)];
}

/** Validates `spec.resources`, if pod-level resources are enabled. */
function podResourcesProblems(path: string, spec: PodSpec, context: PodSpecContext): FieldError[] {
  const { resources } = spec;
  if (resources === undefined || !context.features.enabled('PodLevelResources')) return [];
  const { claims = [] } = resources;
  return [
    ...(claims.length === 0
      ? []
      : [forbidden(childPath(path, 'claims'), 'claims may not be set for Resources at pod-level')]),
    ...validateResourceRequirements(path, { limits: resources.limits, requests: resources.requests }, context),
    ...supportedResourceProblems(path, resources),
    ...aggregateRequestProblems(path, spec),
  ];
}

type PodLevelResources = NonNullable<PodSpec['resources']>;

function supportedResourceProblems(path: string, resources: PodLevelResources): FieldError[] {
  return (['limits', 'requests'] as const).flatMap((field) =>
    Object.keys(resources[field] ?? {})
      .filter((name) => name !== 'cpu' && name !== 'memory' && !isHugePages(name))
      .map((name) => notSupported(keyPath(childPath(path, field), name), name, POD_LEVEL_RESOURCES)),
  );
}

/** The sum of the containers' requests must not exceed the pod's request. */
function aggregateRequestProblems(path: string, spec: PodSpec): FieldError[] {
  const requests = spec.resources?.requests ?? {};
  return Object.keys(requests).flatMap((name) => {
    const requested = own(requests, name) ?? '0';
    let sum = Quantity.parse('0');
    for (const { resources } of spec.containers ?? []) {
      sum = sum.add(Quantity.parse(own(resources.requests ?? {}, name) ?? '0'));
    }
    if (Quantity.parse(requested).cmp(sum) >= 0) return [];
    const detail = `must be greater than or equal to aggregate container requests of ${sum.toString()}`;
    return [invalid(keyPath(childPath(path, 'requests'), name), requested, detail)];
  });
}
