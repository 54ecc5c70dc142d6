/**
 * Explains why a cluster does not serve the kind of a manifest, and suggests what may have been meant.
 */
import { dialects } from '../meta/dialect.js';
import { apiVersionOf } from '../meta/gvk.js';
import type { ManifestKind } from './apply.js';

interface TypeName {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The end of an error message, with its separator: `; did you mean Deployment?`. Empty when there is no hint. */
export function whyNotServed(wanted: TypeName, served: readonly ManifestKind[]): string {
  const renamed = otherDialectHint(wanted, served);
  if (renamed !== undefined) return `; ${renamed}`;
  if (wanted.kind === 'CustomResourceDefinition') {
    return '; this cluster was made without it: add CustomResourceDefinition of orchplane/kinds to its kinds';
  }
  const places = served.filter(({ gvk }) => gvk.kind === wanted.kind).map(({ apiVersion }) => apiVersion);
  const elsewhere = places.length === 0 ? '' : `; ${wanted.kind} is served in ${places.join(', ')}`;
  if (isCustom(wanted, served)) return `; ${customGroupHint(wanted)}${elsewhere}`;
  return elsewhere === '' ? spellingHint(wanted, served) : elsewhere;
}

/** Built-in groups have different names in each dialect. */
function otherDialectHint({ apiVersion, kind }: TypeName, served: readonly ManifestKind[]): string | undefined {
  for (const other of dialects) {
    const match = served.find(
      (each) =>
        each.gvk.kind === kind &&
        each.kind !== undefined &&
        apiVersionOf({ group: other.group(each.kind.group), version: each.kind.version }) === apiVersion,
    );
    if (match === undefined) continue;
    return `that is its name in the dialect ${other.name}; this cluster uses ${match.dialect.name}, where it is ${match.apiVersion}; to use those names call createCluster({ dialect: '${other.name}' })`;
  }
  return undefined;
}

/** The built-in groups in which no version is served by default. */
const OFF_BY_DEFAULT = /^(?:resource|internal\.apiserver|storagemigration)\.(?:k8s|orch)\.io\//;

function customGroupHint({ apiVersion }: TypeName): string {
  return OFF_BY_DEFAULT.test(apiVersion)
    ? `the kinds of that group are off by default: runtimeConfig: '${apiVersion}=true' enables this version, for some kinds with a feature gate`
    : 'no kind of that group is defined here: load its CustomResourceDefinition as well, or install a kind of defineKind';
}

/** Custom groups contain a dot; most built-in groups with a dot are served. */
function isCustom({ apiVersion }: TypeName, served: readonly ManifestKind[]): boolean {
  const [group = '', version] = apiVersion.split('/');
  return version !== undefined && group.includes('.') && served.every(({ gvk }) => gvk.group !== group);
}

/** A similarly spelled kind, preferably in the same version. */
function spellingHint({ apiVersion, kind }: TypeName, served: readonly ManifestKind[]): string {
  const kindsOf = (list: readonly ManifestKind[]): string[] => list.map(({ gvk }) => gvk.kind);
  const [here] = nearestNames(kind, kindsOf(served.filter((each) => each.apiVersion === apiVersion)));
  if (here !== undefined) return `; did you mean ${here}?`;
  const [anywhere] = nearestNames(kind, kindsOf(served));
  const match = served.find(({ gvk }) => gvk.kind === anywhere);
  return match === undefined ? '' : `; did you mean ${match.gvk.kind} in ${match.apiVersion}?`;
}

/** Names within a small edit distance, nearest first. */
function nearestNames(word: string, known: Iterable<string>): string[] {
  // Two edits change too much of a short name.
  const limit = word.length < 5 ? 1 : 2;
  return [...new Set(known)]
    .filter((each) => Math.abs(each.length - word.length) <= limit)
    .map((each) => ({ each, slips: editDistance(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ slips }) => slips <= limit)
    .sort((a, b) => a.slips - b.slips)
    .map(({ each }) => each);
}

/**
 * The Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of adjacent letters. `rows[i][j]` is
 * the distance of the first i letters of one word and the first j of the other:
 *
 *     editDistance('pdo', 'pod')  →  1
 */
function editDistance(one: string, other: string): number {
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
