/**
 * Profiles of a new pod or a template that are given twice, in a field and in an annotation of former days: they must agree.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, keyPath } from '../../../../meta/field-error.js';
import { own } from '../../../../util/json.js';
import { type Annotations, appArmorPrefix, seccompKeys } from './annotations.js';
import type { PodSpec } from './pod-spec.js';
import type { AppArmorProfile, SeccompProfile, SecurityContext } from './security-context.js';

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

const LOCALHOST = 'localhost/';

/** How an annotation says the same, by type; profiles of the localhost are named after the slash. */
const SPELLINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['seccomp Unconfined', ['unconfined']],
  ['seccomp RuntimeDefault', ['runtime/default', 'docker/default']],
  ['apparmor Unconfined', ['unconfined']],
  ['apparmor RuntimeDefault', ['runtime/default']],
]);

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
