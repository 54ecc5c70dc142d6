/**
 * The releases of the reference server that introduce, deprecate and remove a version of a kind. The deprecation
 * warning, the audit annotation and the metric are derived from them. spec: Deprecation rules, Events
 */
import type { Dialect } from '../meta/dialect.js';
import { apiVersionOf, parseApiVersion } from '../meta/gvk.js';
import type { Kind } from './kind.js';

/** A minor release without prefix and patch level: `1.33`. */
export type Release = `${number}.${number}`;

/** The release that the library implements by default. */
export const REFERENCE_RELEASE: Release = '1.33';

/** The oldest supported release. */
export const OLDEST_RELEASE: Release = '1.22';

/** Returns a supported release. Throws TypeError for any other value. */
export function checkRelease(release: string): Release {
  if (typeof release !== 'string') throw new TypeError("orchplane: release is a text, like '1.33'");
  if (compareReleases(release, OLDEST_RELEASE) < 0 || compareReleases(release, REFERENCE_RELEASE) > 0) {
    throw new TypeError(
      `orchplane: release ${release} is not supported; supported are ${OLDEST_RELEASE} to ${REFERENCE_RELEASE}`,
    );
  }
  return release as Release;
}

/** The releases in which a version changes its status. */
export interface Lifecycle {
  readonly introducedIn?: Release;
  /** A version that is not stable but served by default, as beta versions were before 1.22. */
  readonly servedByDefault?: boolean;
  /** The first release that warns about uses of the version. */
  readonly deprecatedIn?: Release;
  /** The first release without it; absent: not decided. */
  readonly removedIn?: Release;
  readonly replacement?: Replacement;
}

/** The version to use instead; its group is canonical. */
export interface Replacement {
  readonly apiVersion: string;
  readonly kind: string;
  /** The replacement that releases before `release` name. */
  readonly before?: { readonly release: Release; readonly apiVersion: string };
}

/** The data about a request to a deprecated version. */
export interface Deprecation {
  readonly warning: string;
  /** `1.36`; empty if not decided: then there is no annotation, and the label of the metric is empty. */
  readonly removedRelease: string;
}

/** Parses a release; undefined if the text is invalid. */
export function parseRelease(text: string): readonly [major: number, minor: number] | undefined {
  const match = /^(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})$/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2])];
}

/** Compares two releases; negative if `left` is older. Throws TypeError for an invalid release. */
export function compareReleases(left: string, right: string): number {
  const [leftMajor, leftMinor] = parseReleaseOrThrow(left);
  const [rightMajor, rightMinor] = parseReleaseOrThrow(right);
  return leftMajor - rightMajor || leftMinor - rightMinor;
}

function parseReleaseOrThrow(release: string): readonly [number, number] {
  const parts = parseRelease(release);
  if (parts === undefined) throw new TypeError(`orchplane: "${release}" is no release; one looks like 1.33`);
  return parts;
}

/** The deprecation of a kind's version in a release; undefined if it is not deprecated. */
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

/**
 * The warning: `v1 Endpoints is deprecated in v1.33+, unavailable in v1.36+; use discovery.orch.io/v1 EndpointSlice`.
 */
export function lifecycleWarning(
  { group, version, kind }: Pick<Kind, 'group' | 'version' | 'kind'>,
  dialect: Dialect,
  { deprecatedIn, removedIn, replacement, release = REFERENCE_RELEASE }: Lifecycle & { readonly release?: Release },
): string {
  const since = deprecatedIn === undefined ? '' : ` in v${deprecatedIn}+`;
  const until = removedIn === undefined ? '' : `, unavailable in v${removedIn}+`;
  const instead =
    replacement === undefined
      ? ''
      : `; use ${inDialect(replacementIn(release, replacement), dialect)} ${replacement.kind}`;
  return `${apiVersionOf({ group: dialect.group(group), version })} ${kind} is deprecated${since}${until}${instead}`;
}

function replacementIn(release: Release, { apiVersion, before }: Replacement): string {
  return before !== undefined && compareReleases(release, before.release) < 0 ? before.apiVersion : apiVersion;
}

function inDialect(apiVersion: string, dialect: Dialect): string {
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: apiVersion };
  return apiVersionOf({ group: dialect.group(group), version });
}
