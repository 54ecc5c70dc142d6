/**
 * How long a version of a kind lives, in releases of the reference server, and what follows for whoever uses it: a
 * warning, an audit annotation and a metric, all from the same facts. spec: Deprecation rules, Events
 */
import type { Dialect } from '../meta/dialect.js';
import { apiVersionOf, parseApiVersion } from '../meta/gvk.js';
import type { Kind } from './kind.js';

/** `1.33`: no patch level, nothing in front. */
export type Release = `${number}.${number}`;

/** The release whose behaviour the library has unless it is told to play another. */
export const REFERENCE_RELEASE: Release = '1.33';

/** The oldest release that can be played. */
export const OLDEST_RELEASE: Release = '1.22';

/** Throws TypeError for what is no release, and for one that cannot be played. */
export function checkRelease(release: string): Release {
  if (typeof release !== 'string') throw new TypeError("orchplane: release is a text, like '1.33'");
  if (compareReleases(release, OLDEST_RELEASE) < 0 || compareReleases(release, REFERENCE_RELEASE) > 0) {
    throw new TypeError(
      `orchplane: release ${release} cannot be played; there are ${OLDEST_RELEASE} to ${REFERENCE_RELEASE}`,
    );
  }
  return release as Release;
}

export interface Lifecycle {
  readonly introducedIn?: Release;
  /** It is on unless it is switched off, although it is not stable: as beta versions were before 1.22. */
  readonly onByDefault?: boolean;
  /** From this release on everybody who uses it is warned. */
  readonly deprecatedIn?: Release;
  /** The first release without it, as far as that is decided. */
  readonly removedIn?: Release;
  readonly replacement?: Replacement;
}

/** What to use instead; the group is canonical, as kinds declare theirs. */
export interface Replacement {
  readonly apiVersion: string;
  readonly kind: string;
  /** What was named until there was that: by releases before this one. */
  readonly before?: { readonly release: Release; readonly apiVersion: string };
}

/** What is to be said about a request for a version that goes away. */
export interface Deprecation {
  readonly warning: string;
  /** `1.36`; empty: it is not decided. The annotation is left out then, and the label of the metric is empty. */
  readonly removedRelease: string;
}

/** Undefined for a text that is no release. */
export function parseRelease(text: string): readonly [major: number, minor: number] | undefined {
  const match = /^(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})$/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2])];
}

/** Negative when `left` is the older one. Throws TypeError for a text that is no release. */
export function compareReleases(left: string, right: string): number {
  const [leftMajor, leftMinor] = partsOf(left);
  const [rightMajor, rightMinor] = partsOf(right);
  return leftMajor - rightMajor || leftMinor - rightMinor;
}

function partsOf(release: string): readonly [number, number] {
  const parts = parseRelease(release);
  if (parts === undefined) throw new TypeError(`orchplane: "${release}" is no release; one looks like 1.33`);
  return parts;
}

/** Undefined for a version that nobody has to be warned about in that release. */
export function deprecationOf(
  kind: Kind,
  dialect: Dialect,
  release: Release = REFERENCE_RELEASE,
): Deprecation | undefined {
  const { lifecycle, deprecation } = kind;
  if (lifecycle === undefined) {
    return deprecation === undefined ? undefined : { warning: deprecation(dialect), removedRelease: '' };
  }
  const { deprecatedIn, removedIn = '' } = lifecycle;
  if (deprecatedIn === undefined || compareReleases(deprecatedIn, release) > 0) return undefined;
  return { warning: lifecycleWarning(kind, dialect, { ...lifecycle, release }), removedRelease: removedIn };
}

/** `v1 Endpoints is deprecated in v1.33+, unavailable in v1.36+; use discovery.orch.io/v1 EndpointSlice`. */
export function lifecycleWarning(
  { group, version, kind }: Pick<Kind, 'group' | 'version' | 'kind'>,
  dialect: Dialect,
  { deprecatedIn, removedIn, replacement, release = REFERENCE_RELEASE }: Lifecycle & { readonly release?: Release },
): string {
  const since = deprecatedIn === undefined ? '' : ` in v${deprecatedIn}+`;
  const until = removedIn === undefined ? '' : `, unavailable in v${removedIn}+`;
  const instead =
    replacement === undefined ? '' : `; use ${inDialect(namedBy(release, replacement), dialect)} ${replacement.kind}`;
  return `${apiVersionOf({ group: dialect.group(group), version })} ${kind} is deprecated${since}${until}${instead}`;
}

function namedBy(release: Release, { apiVersion, before }: Replacement): string {
  return before !== undefined && compareReleases(release, before.release) < 0 ? before.apiVersion : apiVersion;
}

function inDialect(apiVersion: string, dialect: Dialect): string {
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: apiVersion };
  return apiVersionOf({ group: dialect.group(group), version });
}
