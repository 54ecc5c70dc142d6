/**
 * Group, version, kind and resource: parsing, printing and the order of versions.
 */
import { own } from '../util/json.js';

const MAX_INT64 = 2n ** 63n - 1n;

const RANK: Readonly<Record<Maturity, number>> = { stable: 0, beta: 1, alpha: 2 };

/** Packages that are not named after the group: Events of all groups are core types. */
const OTHER_PACKAGES: Readonly<Record<string, string>> = {
  '': 'core',
  events: 'core',
  internal: 'apiserverinternal',
};

export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

export interface GroupVersionResource extends GroupVersion {
  /** Lower-case plural, as in the URL. */
  readonly resource: string;
}

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** `v1`, `apps/v1`. */
export function apiVersionOf(gv: GroupVersion): string {
  return gv.group === '' ? gv.version : `${gv.group}/${gv.version}`;
}

/** The reverse of {@link apiVersionOf}; undefined when the text has more than one slash. */
export function parseApiVersion(apiVersion: string): GroupVersion | undefined {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return undefined;
  const [first = '', second] = parts;
  return second === undefined ? { group: '', version: first } : { group: first, version: second };
}

/** `configmaps`, `deployments.apps`: how messages name a resource. */
export function qualifiedResource(gr: GroupResource): string {
  return gr.group === '' ? gr.resource : `${gr.resource}.${gr.group}`;
}

/** `ConfigMap`, `Deployment.apps`: how messages name a kind. */
export function qualifiedKind(gk: { readonly group: string; readonly kind: string }): string {
  return gk.group === '' ? gk.kind : `${gk.kind}.${gk.group}`;
}

/** `/v1, Kind=Pod`: all parts, as Go prints a GroupVersionKind. */
export function printGvk(gvk: GroupVersionKind): string {
  return `${gvk.group}/${gvk.version}, Kind=${gvk.kind}`;
}

/** The name of the reference server's internal Go package for a group, as in its messages. */
export function internalPackage(group: string): string {
  const [first = ''] = group.split('.');
  return own(OTHER_PACKAGES, first) ?? first;
}

type Maturity = 'stable' | 'beta' | 'alpha';

interface ApiVersion {
  readonly major: bigint;
  readonly maturity: Maturity;
  /** The number after `beta` or `alpha`; 0 when stable. */
  readonly minor: bigint;
}

/** Parses a version name such as `v1` or `v2beta3`; undefined for names of another form. */
export function parseVersion(version: string): ApiVersion | undefined {
  const match = /^v([0-9]{1,100})(?:(alpha|beta)([0-9]{1,100}))?$/.exec(version);
  if (match === null) return undefined;
  const [, majorText = '', maturity, minorText = '0'] = match;
  const [major, minor] = [BigInt(majorText), BigInt(minorText)];
  if (major > MAX_INT64 || minor > MAX_INT64) return undefined;
  return { major, maturity: maturity === 'alpha' || maturity === 'beta' ? maturity : 'stable', minor };
}

/**
 * For `sort`: the preferred version first. Stable before beta before alpha, high numbers before low numbers, names of
 * another form last, in alphabetical order.
 */
export function compareVersions(left: string, right: string): number {
  if (left === right) return 0;
  const [a, b] = [parseVersion(left), parseVersion(right)];
  if (a === undefined && b === undefined) return left < right ? -1 : 1;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  if (a.maturity !== b.maturity) return RANK[a.maturity] - RANK[b.maturity];
  if (a.major !== b.major) return a.major > b.major ? -1 : 1;
  return a.minor === b.minor ? 0 : a.minor > b.minor ? -1 : 1;
}
