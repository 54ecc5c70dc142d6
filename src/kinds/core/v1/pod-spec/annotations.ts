/**
 * Validation of pod annotations that have a meaning: mirror pods, deletion cost, seccomp and AppArmor profiles.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import { childPath, type FieldError, forbidden, invalid, keyPath } from '../../../../meta/field-error.js';
import { own } from '../../../../util/json.js';
import type { AppArmorProfile, PodSpec, SeccompProfile } from '../../../generated/core-v1.js';
import { allContainers, containersWithPaths } from './defaults.js';
import { descendingPathProblems } from './volume-paths.js';

const LOCALHOST = 'localhost/';

/** The annotation values that match a profile type. Localhost profiles are compared by name. */
const MATCHING_ANNOTATIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['seccomp Unconfined', ['unconfined']],
  ['seccomp RuntimeDefault', ['runtime/default', 'docker/default']],
  ['apparmor Unconfined', ['unconfined']],
  ['apparmor RuntimeDefault', ['runtime/default']],
]);

export type Annotations = Readonly<Record<string, string>>;

/** The prefix of AppArmor annotations, which a container's name follows. */
export function appArmorPrefix(dialect: Dialect): string {
  return dialect.subkey('container.apparmor.security.beta', '');
}

/** How the reference server prints the path of an error that concerns no field. */
export const EMPTY_PATH = '[]';

/** The annotation of mirror pods, which represent static pods of a node. */
export function mirrorKey(dialect: Dialect): string {
  return dialect.key('config.mirror');
}

/** Validates the pod-specific annotations at `path`. General rules of annotations are validated elsewhere. */
export function podAnnotationsProblems(
  path: string,
  annotations: Annotations,
  { spec, dialect }: { readonly spec: PodSpec; readonly dialect: Dialect },
): FieldError[] {
  if (Object.keys(annotations).length === 0) return [];
  const mirror = own(annotations, mirrorKey(dialect));
  const costKey = dialect.subkey('controller', 'pod-deletion-cost');
  const cost = own(annotations, costKey);
  const noNode = 'must set spec.nodeName if mirror pod annotation is set';
  return [
    ...(mirror !== undefined && (spec.nodeName ?? '') === ''
      ? [invalid(keyPath(path, mirrorKey(dialect)), mirror, noNode)]
      : []),
    ...(cost !== undefined && !isInt32(cost) ? [invalid(keyPath(path, costKey), cost, 'must be a 32bit integer')] : []),
    ...seccompProblems(path, annotations, dialect),
    ...appArmorProblems(path, annotations, { spec, dialect }),
  ];
}

/** The seccomp annotation of the pod, and the prefix of those of its containers. Neither has an effect any more. */
export function seccompKeys(dialect: Dialect): { readonly pod: string; readonly prefix: string } {
  return {
    pod: dialect.subkey('seccomp.security.alpha', 'pod'),
    prefix: dialect.subkey('container.seccomp.security.alpha', ''),
  };
}

/** The reference server reports these annotations as `path.key` instead of `path[key]`. */
function seccompProblems(path: string, annotations: Annotations, dialect: Dialect): FieldError[] {
  const { pod, prefix } = seccompKeys(dialect);
  const keys = Object.keys(annotations);
  const seccompAnnotations = [...keys.filter((key) => key === pod), ...keys.filter((key) => key.startsWith(prefix))];
  return seccompAnnotations.flatMap((key) => {
    const profile = annotations[key] ?? '';
    if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return [];
    const at = childPath(path, key);
    if (profile.startsWith('localhost/')) return descendingPathProblems(at, profile.slice('localhost/'.length));
    return [invalid(at, profile, 'must be a valid seccomp profile')];
  });
}

/** A deletion cost has no leading plus sign and no leading zeros. */
function isInt32(text: string): boolean {
  if (!/^(0|-?[1-9][0-9]*)$/.test(text)) return false;
  const value = BigInt(text);
  return value >= -(2n ** 31n) && value < 2n ** 31n;
}

function appArmorProblems(
  path: string,
  annotations: Annotations,
  { spec, dialect }: { readonly spec: PodSpec; readonly dialect: Dialect },
): FieldError[] {
  const prefix = appArmorPrefix(dialect);
  const names = new Set(allContainers(spec).map(({ name }) => name));
  return Object.entries(annotations)
    .filter(([key]) => key.startsWith(prefix))
    .flatMap(([key, profile]) => {
      const name = key.slice(prefix.length);
      const isStandardProfile = profile === '' || ['runtime/default', 'unconfined'].includes(profile);
      return [
        ...(names.has(name) ? [] : [invalid(keyPath(path, key), name, 'container not found')]),
        ...(isStandardProfile || profile.startsWith('localhost/')
          ? []
          : [invalid(keyPath(path, key), profile, `invalid AppArmor profile name: "${profile}"`)]),
      ];
    });
}

/** AppArmor annotations and the mirror annotation take effect when the pod is created and cannot change later. */
export function podAnnotationsUpdateProblems(
  path: string,
  next: Annotations,
  { live, dialect }: { readonly live: Annotations; readonly dialect: Dialect },
): FieldError[] {
  const immutableKind = (key: string) =>
    key.startsWith(appArmorPrefix(dialect))
      ? 'AppArmor annotations'
      : key === mirrorKey(dialect)
        ? 'mirror pod annotation'
        : undefined;
  const changed = Object.keys(live).flatMap((key) => {
    const kind = immutableKind(key);
    if (kind === undefined || own(next, key) === own(live, key)) return [];
    return [forbidden(keyPath(path, key), `may not remove or update ${kind}`)];
  });
  const added = Object.keys(next).flatMap((key) => {
    const kind = immutableKind(key);
    return kind === undefined || Object.hasOwn(live, key) ? [] : [forbidden(keyPath(path, key), `may not add ${kind}`)];
  });
  return [...changed, ...added];
}

/**
 * Profiles of a new pod or template that are set in a field and in an annotation must match. `path` is the path of the
 * spec.
 */
export function profileMatchProblems(
  path: string,
  spec: PodSpec,
  { annotations = {}, dialect }: { readonly annotations: Annotations | undefined; readonly dialect: Dialect },
): FieldError[] {
  const ofPod = spec.securityContext;
  const seccomp = seccompKeys(dialect);
  const containers = containersWithPaths(path, spec);
  const windows = spec.os?.name === 'windows';
  return [
    ...mismatchProblems(childPath(path, 'securityContext.seccompProfile'), 'seccomp', {
      profile: ofPod.seccompProfile,
      annotation: own(annotations, seccomp.pod),
    }),
    ...containers.flatMap(({ path: containerPath, container: { name, securityContext } }) =>
      mismatchProblems(childPath(containerPath, 'securityContext.seccompProfile'), 'seccomp', {
        profile: securityContext?.seccompProfile,
        annotation: own(annotations, seccomp.prefix + name),
      }),
    ),
    ...(windows ? [] : containers).flatMap(({ path: containerPath, container: { name, securityContext } }) =>
      mismatchProblems(childPath(containerPath, 'securityContext.appArmorProfile'), 'apparmor', {
        profile: securityContext?.appArmorProfile ?? ofPod.appArmorProfile,
        annotation: own(annotations, appArmorPrefix(dialect) + name),
      }),
    ),
  ];
}

function mismatchProblems(
  path: string,
  what: 'seccomp' | 'apparmor',
  given: {
    readonly profile: SeccompProfile | AppArmorProfile | undefined;
    readonly annotation: string | undefined;
  },
): FieldError[] {
  const { profile, annotation } = given;
  if (profile === undefined || annotation === undefined) return [];
  const otherType = [forbidden(childPath(path, 'type'), `${what} type in annotation and field must match`)];
  if (profile.type !== 'Localhost') {
    const matching = MATCHING_ANNOTATIONS.get(`${what} ${profile.type}`);
    return matching === undefined || matching.includes(annotation) ? [] : otherType;
  }
  if (!annotation.startsWith(LOCALHOST)) return otherType;
  if (annotation.slice(LOCALHOST.length) === profile.localhostProfile) return [];
  return [forbidden(childPath(path, 'localhostProfile'), `${what} profile in annotation and field must match`)];
}
