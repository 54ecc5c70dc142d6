/**
 * The input of pod security checks, the pod templates of kinds, and helpers for messages.
 */
import { allContainers } from '../../kinds/core/v1/pod-spec/defaults.js';
import type { FeatureGates } from '../../kinds/feature-gates.js';
import type { Container, EphemeralContainer, PodSpec, SecurityContext } from '../../kinds/generated/core-v1.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';

/** A pod or a pod template. */
export interface ReviewedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  readonly dialect: Dialect;
  /** Whether pods in a user namespace may do more, because their root user has no privileges on the host. */
  readonly trustsUserNamespaces: boolean;
}

/** Prepares a pod for the checks. */
export function toReviewedPod(
  { metadata, spec }: PodLike,
  { dialect, features }: { readonly dialect: Dialect; readonly features: FeatureGates },
): ReviewedPod {
  const trustsUserNamespaces = features.enabled('UserNamespacesPodSecurityStandards');
  return { annotations: metadata?.annotations ?? {}, spec, dialect, trustsUserNamespaces };
}

/** A violation of a check. */
export interface Violation {
  /** A short text, used alone in summaries of many pods. */
  readonly reason: string;
  readonly detail: string;
}

export type Check = (pod: ReviewedPod) => Violation | undefined;

/** The names of the containers that satisfy a predicate. */
export function containersWhere(
  { spec }: ReviewedPod,
  isTrue: (context: SecurityContext | undefined, container: Container | EphemeralContainer) => boolean,
): string[] {
  return allContainers(spec).flatMap((container) =>
    isTrue(container.securityContext, container) ? [container.name] : [],
  );
}

/** `"a", "b"`. Names are not escaped. */
export function quoted(items: Iterable<string>): string {
  return [...items].map((item) => `"${item}"`).join(', ');
}

/** `container "a"`, `containers "a", "b"`. */
export function counted(noun: string, names: readonly string[]): string {
  return `${plural(noun, names.length)} ${quoted(names)}`;
}

export function plural(noun: string, count: number): string {
  return count === 1 ? noun : `${noun}s`;
}

/** `pod`, `containers "a", "b"`, or `pod and containers "a", "b"`; empty if neither. */
function subjectsOf(isPod: boolean, containers: readonly string[], others: readonly string[] = []): string {
  const ofContainers = containers.length > 0 ? [counted('container', containers)] : [];
  return [...(isPod ? ['pod'] : []), ...ofContainers, ...others].join(' and ');
}

/** The members that the security contexts of pods and of containers share. */
type SharedContext = Pick<
  SecurityContext,
  'appArmorProfile' | 'runAsNonRoot' | 'runAsUser' | 'seccompProfile' | 'seLinuxOptions' | 'windowsOptions'
>;

/** {@link subjectsOf} the pod and the containers whose security context satisfies a predicate. */
export function subjectsWhere(
  pod: ReviewedPod,
  isTrue: (context: SharedContext | undefined) => boolean,
  others?: readonly string[],
): string {
  return subjectsOf(isTrue(pod.spec.securityContext), containersWhere(pod, isTrue), others);
}

/** A violation of all containers that satisfy a predicate. */
export function containerViolation(
  pod: ReviewedPod,
  isTrue: Parameters<typeof containersWhere>[1],
  { reason, must }: { readonly reason: string; readonly must: string },
): Violation | undefined {
  const names = containersWhere(pod, isTrue);
  return names.length === 0 ? undefined : { reason, detail: `${counted('container', names)} ${must}` };
}

/** Distinct and sorted. */
export function sorted(items: Iterable<string>): string[] {
  return [...new Set(items)].sort();
}

export function isWindows({ spec }: ReviewedPod): boolean {
  return spec.os?.name === 'windows';
}

export function isInUserNamespace({ spec, trustsUserNamespaces }: ReviewedPod): boolean {
  return trustsUserNamespaces && spec.hostUsers === false;
}

export interface PodLike {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

/** The path of the pod template by canonical group and plural. */
const TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ['/pods', []],
  ['/podtemplates', ['template']],
  ['/replicationcontrollers', ['spec', 'template']],
  ['apps/replicasets', ['spec', 'template']],
  ['apps/deployments', ['spec', 'template']],
  ['apps/statefulsets', ['spec', 'template']],
  ['apps/daemonsets', ['spec', 'template']],
  ['batch/jobs', ['spec', 'template']],
  ['batch/cronjobs', ['spec', 'jobTemplate', 'spec', 'template']],
]);

function templatePath({ kind }: ServedKind): readonly string[] | undefined {
  return TEMPLATES.get(`${kind.group}/${kind.names.plural}`);
}

export function hasPodSpec(served: ServedKind): boolean {
  return templatePath(served) !== undefined;
}

/** Undefined if the template is absent. */
export function podOf(object: ApiObject, served: ServedKind): PodLike | undefined {
  let value: unknown = object;
  for (const field of templatePath(served) ?? [])
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[field];
  return value as PodLike | undefined;
}
