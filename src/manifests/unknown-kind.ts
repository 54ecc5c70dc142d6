/**
 * Why a cluster does not serve what a manifest holds, and what its writer may have meant.
 */
import type { ServedKind } from '../kinds/served-kind.js';
import { dialects } from '../meta/dialect.js';
import { apiVersionOf } from '../meta/gvk.js';
import { nearest } from './nearest.js';

interface TypeNames {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The rest of a sentence, with what leads over to it: `; did you mean Deployment?`. Empty when there is nothing to say. */
export function whyNotServed(wanted: TypeNames, served: readonly ServedKind[]): string {
  const renamed = inOtherDialect(wanted, served);
  if (renamed !== undefined) return `; ${renamed}`;
  if (wanted.kind === 'CustomResourceDefinition') {
    return '; this cluster was made without it: add CustomResourceDefinition of orchplane/kinds to its kinds';
  }
  const places = served.filter(({ gvk }) => gvk.kind === wanted.kind).map(({ apiVersion }) => apiVersion);
  const elsewhere = places.length === 0 ? '' : `; ${wanted.kind} is served in ${places.join(', ')}`;
  if (isCustom(wanted, served)) return `; ${CUSTOM}${elsewhere}`;
  return elsewhere === '' ? misspelt(wanted, served) : elsewhere;
}

/** The service's own groups have another name in each dialect. */
function inOtherDialect({ apiVersion, kind }: TypeNames, served: readonly ServedKind[]): string | undefined {
  for (const other of dialects) {
    const match = served.find(
      ({ gvk, kind: { group, version } }) =>
        gvk.kind === kind && apiVersionOf({ group: other.group(group), version }) === apiVersion,
    );
    if (match === undefined) continue;
    return `that is its name in the dialect ${other.name}; this cluster speaks ${match.dialect.name}, where it is ${match.apiVersion}; for manifests in those names use createCluster({ dialect: '${other.name}' })`;
  }
  return undefined;
}

const CUSTOM =
  'no kind of that group is defined here: load its CustomResourceDefinition as well, or install a kind of defineKind';

/** Groups of users have a dot in their name; those of the server that have one are served. */
function isCustom({ apiVersion }: TypeNames, served: readonly ServedKind[]): boolean {
  const [group = '', version] = apiVersion.split('/');
  return version !== undefined && group.includes('.') && served.every(({ gvk }) => gvk.group !== group);
}

/** A kind that is spelt much like it, best in the same version. */
function misspelt({ apiVersion, kind }: TypeNames, served: readonly ServedKind[]): string {
  const kindsOf = (list: readonly ServedKind[]): string[] => list.map(({ gvk }) => gvk.kind);
  const [here] = nearest(kind, kindsOf(served.filter((each) => each.apiVersion === apiVersion)));
  if (here !== undefined) return `; did you mean ${here}?`;
  const [anywhere] = nearest(kind, kindsOf(served));
  const match = served.find(({ gvk }) => gvk.kind === anywhere);
  return match === undefined ? '' : `; did you mean ${match.gvk.kind} in ${match.apiVersion}?`;
}
