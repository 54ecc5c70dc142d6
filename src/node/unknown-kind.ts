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
  return [inOtherDialect(wanted, served) ?? [...custom(wanted, served), ...alike(wanted, served)]]
    .flat()
    .map((reason) => `; ${reason}`)
    .join('');
}

/** The service's own groups have another name in each dialect. */
function inOtherDialect({ apiVersion, kind }: TypeNames, served: readonly ServedKind[]): string | undefined {
  for (const other of dialects) {
    const match = served.find(
      ({ gvk, kind: { group, version } }) =>
        gvk.kind === kind && apiVersionOf({ group: other.group(group), version }) === apiVersion,
    );
    if (match === undefined) continue;
    return `that is its name in the dialect ${other.name}; this cluster speaks ${match.dialect.name}, where it is ${match.apiVersion}`;
  }
  return undefined;
}

/** Groups of users have a dot in their name; those of the server that have one are served. */
function custom({ apiVersion }: TypeNames, served: readonly ServedKind[]): string[] {
  const [group = ''] = apiVersion.split('/');
  const isCustom = apiVersion.includes('/') && group.includes('.') && served.every(({ gvk }) => gvk.group !== group);
  if (!isCustom) return [];
  return [
    'CustomResourceDefinitions are stored, but the kinds they define are not served yet (those of defineKind are, after cluster.install)',
  ];
}

/** The same kind elsewhere; or one that is spelt much like it, best in the same version. */
function alike({ apiVersion, kind }: TypeNames, served: readonly ServedKind[]): string[] {
  const places = served.filter(({ gvk }) => gvk.kind === kind).map((each) => each.apiVersion);
  if (places.length > 0) return [`${kind} is served in ${places.join(', ')}`];
  const here = served.filter((each) => each.apiVersion === apiVersion).map(({ gvk }) => gvk.kind);
  const [close] = nearest(kind, here);
  if (close !== undefined) return [`did you mean ${close}?`];
  const everywhere = served.map(({ gvk }) => gvk.kind);
  const [far] = nearest(kind, everywhere);
  const match = served.find(({ gvk }) => gvk.kind === far);
  return match === undefined ? [] : [`did you mean ${match.gvk.kind} in ${match.apiVersion}?`];
}
