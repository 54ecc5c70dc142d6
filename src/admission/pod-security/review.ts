/**
 * What the checks of pod security look at, and the words in which they find fault.
 */
import type { Container, EphemeralContainer } from '../../kinds/core/v1/pod-spec/container.js';
import { allContainers } from '../../kinds/core/v1/pod-spec/defaults.js';
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import type { SecurityContext } from '../../kinds/core/v1/pod-spec/security-context.js';
import type { FeatureGates } from '../../kinds/feature-gates.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';

/** By canonical group and plural, the fields that lead to the template. Pods are their own. */
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

/** A pod, or the template of one. */
export interface ReviewedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  readonly dialect: Dialect;
  /** Root in a pod with users of its own is nobody outside of it, and may do more. */
  readonly trustsUserNamespaces: boolean;
}

/** A pod as the cluster holds it, made ready for the checks. */
export function reviewed(
  { metadata, spec }: PodLike,
  { dialect, features }: { readonly dialect: Dialect; readonly features: FeatureGates },
): ReviewedPod {
  const trustsUserNamespaces = features.enabled('UserNamespacesPodSecurityStandards');
  return { annotations: metadata?.annotations ?? {}, spec, dialect, trustsUserNamespaces };
}

/** What a check has against a pod. */
export interface Violation {
  /** In a word or two; it stands alone where many pods are spoken of. */
  readonly reason: string;
  readonly detail: string;
}

export type Check = (pod: ReviewedPod) => Violation | undefined;

/** The names of the containers that something is true of, in the order in which containers are looked at. */
export function containersThat(
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

/** `pod and containers "a", "b"`; nothing where it is nobody. */
export function setters(isPod: boolean, containers: readonly string[]): string[] {
  return [...(isPod ? ['pod'] : []), ...(containers.length > 0 ? [counted('container', containers)] : [])];
}

/** Each once, in order. */
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

function pathOf({ kind }: ServedKind): readonly string[] | undefined {
  return TEMPLATES.get(`${kind.group}/${kind.names.plural}`);
}

export function hasPod(served: ServedKind): boolean {
  return pathOf(served) !== undefined;
}

/** Nothing where the template is left out. */
export function podOf(object: ApiObject, served: ServedKind): PodLike | undefined {
  let value: unknown = object;
  for (const field of pathOf(served) ?? []) value = (value as Readonly<Record<string, unknown>> | undefined)?.[field];
  return value as PodLike | undefined;
}
