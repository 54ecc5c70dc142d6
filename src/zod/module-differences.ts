/**
 * Compares the kinds of a module with CRDs.
 */
import { type CrdDifference, type CrdManifest, crdDifferences } from '../crd/compare.js';
import { toCRD } from '../crd/zod/to-crd.js';
import type { Kind } from '../kinds/kind.js';
import { messageOf, onOneLine } from '../util/message-of.js';
import { dialectOf, type GeneratedVersions, selectedVersions } from './generate-types.js';

/** A line for each difference. Kinds without a CRD are not compared. */
export function moduleDifferences(
  crds: readonly CrdManifest[],
  kinds: readonly Kind[],
  versions: GeneratedVersions = 'all',
): string[] {
  return crds.flatMap((crd) => {
    const { name } = crd.metadata;
    return differencesOf(crd, kinds, versions).map((difference) => `${name}: ${difference}`);
  });
}

function differencesOf(crd: CrdManifest, kinds: readonly Kind[], which: GeneratedVersions): string[] {
  const dialect = dialectOf(crd);
  const { group, names } = crd.spec;
  const versions = selectedVersions(crd, which);
  const found = versions.flatMap(
    ({ name }) =>
      kinds.find((kind) => dialect.group(kind.group) === group && kind.kind === names.kind && kind.version === name) ??
      [],
  );
  const missing = versions.filter(({ name }) => found.every((kind) => kind.version !== name));
  const absent = missing.map(({ name }) => `the module has no kind for ${group}/${name} ${names.kind}`);
  const [first, ...others] = found;
  if (first === undefined) return absent;
  try {
    const made = toCRD([first, ...others], { dialect: dialect.name });
    const wanted = {
      ...crd,
      spec: { ...crd.spec, versions: versions.filter((version) => !missing.includes(version)) },
    };
    return [...absent, ...crdDifferences(wanted, made, { dialect }).map(differenceText)];
  } catch (error) {
    // A kind that a server would reject.
    if (error instanceof TypeError) return [...absent, onOneLine(messageOf(error))];
    throw error;
  }
}

function differenceText({ path, left, right }: CrdDifference): string {
  return `${path}: ${shown(left)} in the CRD, ${shown(right)} in the kind`;
}

function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

export { generateTypes } from './generate-types.js';
