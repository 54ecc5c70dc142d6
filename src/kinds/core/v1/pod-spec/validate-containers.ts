/**
 * Validation of containers, init containers and ephemeral containers.
 */

import type { FieldError } from '../../../../meta/field-error.js';
import {
  childPath,
  duplicate,
  fieldError,
  forbidden,
  invalid,
  keyPath,
  notSupported,
  required,
} from '../../../../meta/field-error.js';
import { dnsLabelProblems, portNameProblems } from '../../../../meta/names.js';
import { hasSentEmpty, wasSentEmpty } from '../../../../schema/empty-values.js';
import { verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import type {
  Container,
  ContainerPort,
  ContainerResizePolicy,
  EphemeralContainer,
  PodSpec,
} from '../../../generated/core-v1.js';
import { portNumberProblems, valueErrors } from '../../../shared/field-rules.js';
import { validateResourceRequirements } from '../../../shared/resources.js';
import type { PodSpecContext } from './context.js';
import { envFromProblems, envProblems } from './validate-env.js';
import { type HandlerContext, lifecycleProblems, probesProblems } from './validate-handlers.js';
import { type VolumeSourceKind, volumeDevicesProblems, volumeMountsProblems } from './validate-mounts.js';
import { containerSecurityProblems } from './validate-security.js';

/** What validation of a container needs from its pod. */
export interface ContainerContext extends PodSpecContext, HandlerContext {
  readonly volumeSources: ReadonlyMap<string, VolumeSourceKind>;
  readonly podClaimNames: ReadonlySet<string>;
  readonly restartPolicy: string;
  readonly hostUsers: boolean;
}

type AnyContainer = Container | EphemeralContainer;

/** Validates `spec.containers`. */
export function containersProblems(path: string, spec: PodSpec, context: ContainerContext): FieldError[] {
  // Absent containers are null.
  const containers: readonly Container[] = spec.containers ?? [];
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  const problems = containers.flatMap((container, index) => {
    const at = keyPath(path, index);
    return [
      ...commonProblems(at, container, context),
      ...uniqueNameProblems(at, container.name, names),
      ...lifecycleProblems(childPath(at, 'lifecycle'), container.lifecycle, context),
      ...probesProblems(at, container, context),
      ...(container.restartPolicy === undefined
        ? []
        : [forbidden(childPath(at, 'restartPolicy'), 'may not be set for non-init containers')]),
    ];
  });
  return [...problems, ...hostPortConflicts(path, containers)];
}

/** Validates `spec.initContainers`. */
export function initContainersProblems(path: string, spec: PodSpec, context: ContainerContext): FieldError[] {
  const names = new Set((spec.containers ?? []).map(({ name }) => name));
  return (spec.initContainers ?? []).flatMap((container, index) => {
    const at = keyPath(path, index);
    return [
      ...commonProblems(at, container, context),
      ...restartProblems(childPath(at, 'restartPolicy'), container.restartPolicy),
      // As in the reference server, empty names of init containers are not duplicates of each other.
      ...(container.name === '' && !names.has('') ? [] : uniqueNameProblems(at, container.name, names)),
      // Init containers run one after the other, so each is checked alone. The reference server reports index 0 for all.
      ...hostPortConflicts(path, [container]),
      ...(container.restartPolicy === 'Always'
        ? [
            ...lifecycleProblems(childPath(at, 'lifecycle'), container.lifecycle, context),
            ...probesProblems(at, container, context),
          ]
        : runOnceProblems(at, container)),
    ];
  });
}

const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container';

/** Validates `spec.ephemeralContainers`. */
export function ephemeralContainersProblems(path: string, spec: PodSpec, context: ContainerContext): FieldError[] {
  const targets = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name));
  const names = new Set(targets);
  return (spec.ephemeralContainers ?? []).flatMap((container, index) => {
    const at = keyPath(path, index);
    const { name, targetContainerName: target = '', volumeMounts = [] } = container;
    return [
      ...commonProblems(at, container, context),
      ...imageWhitespaceProblems(at, container),
      ...uniqueNameProblems(at, name, names),
      ...(target === '' || targets.has(target)
        ? []
        : [fieldError('notFound', childPath(at, 'targetContainerName'), { value: target })]),
      ...forbiddenEphemeralFields(container).map((field) => forbidden(childPath(at, field), NOT_EPHEMERAL)),
      ...volumeMounts.flatMap((mount, mountIndex) =>
        (['subPath', 'subPathExpr'] as const)
          .filter((field) => (mount[field] ?? '') !== '')
          .map((field) =>
            forbidden(childPath(keyPath(childPath(at, 'volumeMounts'), mountIndex), field), NOT_EPHEMERAL),
          ),
      ),
    ];
  });
}

/** For pods only: images in templates may be placeholders with whitespace. */
export function imagesWhitespaceProblems(path: string, containers: readonly Container[] | undefined): FieldError[] {
  return (containers ?? []).flatMap((container, index) => imageWhitespaceProblems(keyPath(path, index), container));
}

/** With hostNetwork the host port must equal the container port. */
export function hostNetworkProblems(path: string, spec: PodSpec, { podName }: PodSpecContext): FieldError[] {
  if (spec.hostNetwork !== true) return [];
  // The reference server does not check init containers.
  return (spec.containers ?? []).flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ hostPort = 0, containerPort }, portIndex) => {
      // In a template the host port may be absent: defaulting sets it in the pod.
      if (hostPort === containerPort || (hostPort === 0 && podName === undefined)) return [];
      const at = keyPath(childPath(keyPath(childPath(path, 'containers'), index), 'ports'), portIndex);
      const detail = 'must match `containerPort` when `hostNetwork` is true';
      return [invalid(childPath(at, 'hostPort'), hostPort, detail)];
    }),
  );
}

const TERMINATION_POLICIES = ['File', 'FallbackToLogsOnError'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

function commonProblems(path: string, container: AnyContainer, context: ContainerContext): FieldError[] {
  const { name, image = '', terminationMessagePolicy: policy, volumeMounts, volumeDevices } = container;
  const { imagePullPolicy = '', securityContext, env = [], envFrom = [], ports = [] } = container;
  const { features, settings, volumeSources, hostUsers, restartPolicy } = context;
  const privileged = securityContext?.privileged === true;
  const mounts = { volumeSources, mounts: volumeMounts, devices: volumeDevices, privileged };
  const at = (field: string) => childPath(path, field);
  return [
    ...(name === ''
      ? [required(at('name'))]
      : dnsLabelProblems(name).map((problem) => invalid(at('name'), name, problem))),
    ...(image === '' ? [required(at('image'))] : []),
    ...valueErrors(at('terminationMessagePolicy'), policy, TERMINATION_POLICIES),
    ...portsProblems(at('ports'), ports),
    ...envProblems(at('env'), env, features),
    ...envFromProblems(at('envFrom'), envFrom, features),
    ...volumeMountsProblems(at('volumeMounts'), volumeMounts, mounts),
    ...volumeDevicesProblems(at('volumeDevices'), volumeDevices, mounts),
    ...valueErrors(at('imagePullPolicy'), imagePullPolicy, PULL_POLICIES),
    ...validateResourceRequirements(at('resources'), container.resources, context),
    ...resizePolicyProblems(at('resizePolicy'), container.resizePolicy ?? [], restartPolicy),
    ...(securityContext === undefined
      ? []
      : containerSecurityProblems(at('securityContext'), securityContext, { hostUsers, settings })),
  ];
}

function uniqueNameProblems(path: string, name: string, names: Set<string>): FieldError[] {
  if (names.has(name)) return [duplicate(childPath(path, 'name'), name)];
  names.add(name);
  return [];
}

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function portsProblems(path: string, ports: readonly ContainerPort[]): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap(({ name = '', containerPort, hostPort = 0, protocol }, index) => {
    const at = keyPath(path, index);
    return [
      ...(name === '' ? [] : uniquePortNameProblems(childPath(at, 'name'), name, names)),
      ...(containerPort === 0
        ? [required(childPath(at, 'containerPort'))]
        : portNumberProblems(childPath(at, 'containerPort'), containerPort)),
      ...(hostPort === 0 ? [] : portNumberProblems(childPath(at, 'hostPort'), hostPort)),
      ...valueErrors(childPath(at, 'protocol'), protocol, PROTOCOLS),
    ];
  });
}

function uniquePortNameProblems(path: string, name: string, names: Set<string>): FieldError[] {
  const problems = portNameProblems(name);
  if (problems.length > 0) return problems.map((problem) => invalid(path, name, problem));
  if (names.has(name)) return [duplicate(path, name)];
  names.add(name);
  return [];
}

function hostPortConflicts(path: string, containers: readonly Container[]): FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ hostPort = 0, hostIP = '', protocol }, portIndex) => {
      if (hostPort === 0) return [];
      const port = `${protocol}/${hostIP}/${hostPort}`;
      const at = keyPath(childPath(keyPath(path, index), 'ports'), portIndex);
      if (taken.has(port)) return [duplicate(childPath(at, 'hostPort'), port)];
      taken.add(port);
      return [];
    }),
  );
}

const RESIZABLE = ['cpu', 'memory'];
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer'];

function resizePolicyProblems(
  path: string,
  policies: readonly ContainerResizePolicy[],
  podRestartPolicy: string,
): FieldError[] {
  const seen = new Set<string>();
  return policies.flatMap(({ resourceName, restartPolicy }, index) => {
    // Resource names print without quotes.
    const name = verbatim(resourceName);
    const problems: FieldError[] = seen.has(resourceName) ? [duplicate(keyPath(path, index), name)] : [];
    seen.add(resourceName);
    append(problems, choiceProblems(path, resourceName, { printed: name, choices: RESIZABLE }));
    append(problems, choiceProblems(path, restartPolicy, { printed: restartPolicy, choices: RESIZE_POLICIES }));
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      problems.push(invalid(path, restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'"));
    }
    return problems;
  });
}

function choiceProblems(
  path: string,
  given: string,
  { printed, choices }: { readonly printed: unknown; readonly choices: readonly string[] },
): FieldError[] {
  if (given === '') return [required(path)];
  return choices.includes(given) ? [] : [notSupported(path, printed, choices)];
}

function restartProblems(path: string, restartPolicy: string | undefined): FieldError[] {
  if (restartPolicy === undefined || restartPolicy === 'Always') return [];
  return [notSupported(path, restartPolicy, ['Always'])];
}

/** Fields that are valid only in init containers with `restartPolicy: Always` (sidecars). */
const SIDECAR_FIELDS = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function runOnceProblems(path: string, container: Container): FieldError[] {
  return SIDECAR_FIELDS.filter((field) => container[field] !== undefined).map((field) =>
    forbidden(childPath(path, field), 'may not be set for init containers without restartPolicy=Always'),
  );
}

/** In the order in which the reference server reports them. */
const FORBIDDEN_EPHEMERAL_FIELDS = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

function forbiddenEphemeralFields(container: EphemeralContainer): string[] {
  return FORBIDDEN_EPHEMERAL_FIELDS.filter((field) => {
    const value = container[field];
    // A list that was sent empty is forbidden too.
    if (value === undefined) return wasSentEmpty(container, field);
    return field !== 'resources' || Object.keys(value).length > 0 || hasSentEmpty(value);
  });
}

function imageWhitespaceProblems(path: string, { image = '' }: AnyContainer): FieldError[] {
  if (image.trim() === image) return [];
  return [invalid(childPath(path, 'image'), image, 'must not have leading or trailing whitespace')];
}
