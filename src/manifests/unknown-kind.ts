/**
 * Why a cluster does not serve what a manifest holds, and what its writer may have meant.
 */
import type { ServedKind } from '../kinds/served-kind.js';
import { dialects } from '../meta/dialect.js';
import { apiVersionOf } from '../meta/gvk.js';

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

/** The known words that are a slip of the hand away, the nearest first; empty when none is. */
function nearest(word: string, known: Iterable<string>): string[] {
  // In a short word, two slips leave too little of it.
  const limit = word.length < 5 ? 1 : 2;
  return [...new Set(known)]
    .map((each) => ({ each, slips: slipsBetween(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ slips }) => slips <= limit)
    .sort((a, b) => a.slips - b.slips)
    .map(({ each }) => each);
}

/**
 * How many letters were added, left out, replaced, or swapped with their neighbour. Row by row of the table in which
 * `rows[i][j]` is the answer for the first i letters of one word and the first j of the other:
 *
 *     slipsBetween('pdo', 'pod')  →  1
 */
function slipsBetween(one: string, other: string): number {
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (above[j - 1] ?? 0) + Number(one[i - 1] !== other[j - 1]);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped));
    }
    before = above;
    above = row;
  }
  return above[other.length] ?? 0;
}
