/**
 * Annotations that mean something to a pod: their rules, and what an update may do to them.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath } from '../../../../meta/field-error.js';
import { own } from '../../../../util/json.js';
import type { PodSpec } from './pod-spec.js';
import { descendingPathProblems } from './volume-paths.js';

export type Annotations = Readonly<Record<string, string>>;

/** `container.apparmor…/`: a container's name follows. */
export function appArmorPrefix(dialect: Dialect): string {
  return dialect.subkey('container.apparmor.security.beta', '');
}

/** The path of problems that concern no field: how the reference server prints one without a name. */
export const NOWHERE = '[]';

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
