/**
 * Annotations that mean something to a pod: their rules, and what an update may do to them.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath } from '../../../../meta/field-error.js';
import { own } from '../../../../util/json.js';
import type { PodSpec } from './pod-spec.js';
import type { AppArmorProfile, SeccompProfile, SecurityContext } from './security-context.js';
import { descendingPathProblems } from './volume-paths.js';

const LOCALHOST = 'localhost/';

/** How an annotation says the same, by type; profiles of the localhost are named after the slash. */
const SPELLINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['seccomp Unconfined', ['unconfined']],
  ['seccomp RuntimeDefault', ['runtime/default', 'docker/default']],
  ['apparmor Unconfined', ['unconfined']],
  ['apparmor RuntimeDefault', ['runtime/default']],
]);

export type Annotations = Readonly<Record<string, string>>;

/** `container.apparmor…/`: a container's name follows. */
export function appArmorPrefix(dialect: Dialect): string {
  return dialect.subkey('container.apparmor.security.beta', '');
}

/** The path of problems that concern no field: how the reference server prints one without a name. */
export const EMPTY_PATH = '[]';

/** Set on pods that a node made by itself. */
export function mirrorKey(dialect: Dialect): string {
  return dialect.key('config.mirror');
}

/** Problems of the annotations at `path` of an object with this spec, beyond those of any annotations. */
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

/** The whole pod's profile, and `container.seccomp…/` before a container's name. Both have no effect any more. */
export function seccompKeys(dialect: Dialect): { readonly pod: string; readonly prefix: string } {
  return {
    pod: dialect.subkey('seccomp.security.alpha', 'pod'),
    prefix: dialect.subkey('container.seccomp.security.alpha', ''),
  };
}

/** The reference server shows these keys as if they were fields. */
function seccompProblems(path: string, annotations: Annotations, dialect: Dialect): FieldError[] {
  const { pod, prefix } = seccompKeys(dialect);
  const keys = Object.keys(annotations);
  const own = [...keys.filter((key) => key === pod), ...keys.filter((key) => key.startsWith(prefix))];
  return own.flatMap((key) => {
    const profile = annotations[key] ?? '';
    if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return [];
    const at = childPath(path, key);
    if (profile.startsWith('localhost/')) return descendingPathProblems(at, profile.slice('localhost/'.length));
    return [invalid(at, profile, 'must be a valid seccomp profile')];
  });
}

/** A cost has no leading plus and no leading zeros, so that it is written in one way only. */
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
  const all = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
  const names = new Set(all.map(({ name }) => name));
  return Object.entries(annotations)
    .filter(([key]) => key.startsWith(prefix))
    .flatMap(([key, profile]) => {
      const name = key.slice(prefix.length);
      const known = profile === '' || ['runtime/default', 'unconfined'].includes(profile);
      return [
        ...(names.has(name) ? [] : [invalid(keyPath(path, key), name, 'container not found')]),
        ...(known || profile.startsWith('localhost/')
          ? []
          : [invalid(keyPath(path, key), profile, `invalid AppArmor profile name: "${profile}"`)]),
      ];
    });
}

/** What an update may not do: touch those that were acted upon when the pod was made. */
export function podAnnotationsUpdateProblems(
  path: string,
  next: Annotations,
  { live, dialect }: { readonly live: Annotations; readonly dialect: Dialect },
): FieldError[] {
  const fixed = (key: string) =>
    key.startsWith(appArmorPrefix(dialect))
      ? 'AppArmor annotations'
      : key === mirrorKey(dialect)
        ? 'mirror pod annotation'
        : undefined;
  const touched = Object.keys(live).flatMap((key) => {
    const what = fixed(key);
    if (what === undefined || own(next, key) === own(live, key)) return [];
    return [forbidden(keyPath(path, key), `may not remove or update ${what}`)];
  });
  const added = Object.keys(next).flatMap((key) => {
    const what = fixed(key);
    return what === undefined || Object.hasOwn(live, key) ? [] : [forbidden(keyPath(path, key), `may not add ${what}`)];
  });
  return [...touched, ...added];
}

/** `path` is that of the spec. */
export function profileMatchProblems(
  path: string,
  spec: PodSpec,
  { annotations = {}, dialect }: { readonly annotations: Annotations | undefined; readonly dialect: Dialect },
): FieldError[] {
  const ofPod = spec.securityContext;
  const seccomp = seccompKeys(dialect);
  const containers = placedContexts(path, spec);
  const windows = spec.os?.name === 'windows';
  return [
    ...mismatchProblems(childPath(path, 'securityContext.seccompProfile'), 'seccomp', {
      profile: ofPod.seccompProfile,
      annotation: own(annotations, seccomp.pod),
    }),
    ...containers.flatMap(({ place, name, context }) =>
      mismatchProblems(childPath(place, 'securityContext.seccompProfile'), 'seccomp', {
        profile: context?.seccompProfile,
        annotation: own(annotations, seccomp.prefix + name),
      }),
    ),
    ...(windows ? [] : containers).flatMap(({ place, name, context }) =>
      mismatchProblems(childPath(place, 'securityContext.appArmorProfile'), 'apparmor', {
        profile: context?.appArmorProfile ?? ofPod.appArmorProfile,
        annotation: own(annotations, appArmorPrefix(dialect) + name),
      }),
    ),
  ];
}

interface Placed {
  readonly place: string;
  readonly name: string;
  readonly context: SecurityContext | undefined;
}

function placedContexts(path: string, spec: PodSpec): Placed[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map(({ name, securityContext }, index) => ({
      place: keyPath(childPath(path, list), index),
      name,
      context: securityContext,
    })),
  );
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
    const spellings = SPELLINGS.get(`${what} ${profile.type}`);
    return spellings === undefined || spellings.includes(annotation) ? [] : otherType;
  }
  if (!annotation.startsWith(LOCALHOST)) return otherType;
  if (annotation.slice(LOCALHOST.length) === profile.localhostProfile) return [];
  return [forbidden(childPath(path, 'localhostProfile'), `${what} profile in annotation and field must match`)];
}
