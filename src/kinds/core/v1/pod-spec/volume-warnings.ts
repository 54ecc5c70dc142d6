/**
 * What is said about volumes that are accepted all the same: sources that are on their way out, files that hide each
 * other.
 */
import { childPath, keyPath } from '../../../../meta/field-error.js';
import { Quantity } from '../../../../meta/quantity.js';
import { quote } from '../../../../text/go/go-text.js';
import { own } from '../../../../util/json.js';
import type { PersistentVolumeClaimSpec } from './claim-spec.js';
import type { VolumeProjection } from './projected.js';
import type { Volume } from './volume.js';

/** The warnings about volumes at `path` (`spec.volumes`). */
export function volumesWarnings(path: string, volumes: readonly Volume[] | undefined): string[] {
  const all = volumes ?? [];
  return [
    ...all.flatMap((volume, index) => agingWarnings(keyPath(path, index), volume)),
    ...all.flatMap(overlapWarnings),
  ];
}

/** Sources and what became of them, in the order of the warnings. */
const AGING: readonly (readonly [source: keyof Volume, spelling: string, fate: string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['ephemeral', 'ephemeral', ''],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function agingWarnings(at: string, volume: Volume): string[] {
  return AGING.filter(([source]) => volume[source] !== undefined).flatMap(([source, spelling, fate]) => {
    if (source !== 'ephemeral') return [`${childPath(at, spelling)}: ${fate}`];
    const spec = volume.ephemeral?.volumeClaimTemplate?.spec;
    return spec === undefined ? [] : claimSpecWarnings(childPath(at, 'ephemeral.volumeClaimTemplate.spec'), spec);
  });
}

/** About the claim's spec at `path`: bytes cannot be split. */
export function claimSpecWarnings(path: string, { resources }: PersistentVolumeClaimSpec): string[] {
  return (['requests', 'limits'] as const).flatMap((list) => {
    const text = own(resources?.[list] ?? {}, 'storage');
    if (text === undefined || Quantity.parse(text).milliValue() % 1000n === 0n) return [];
    const at = keyPath(childPath(path, `resources.${list}`), 'storage');
    return [`${at}: fractional byte value ${quote(Quantity.parse(text).toString())} is invalid, must be an integer`];
  });
}

/** A file of a volume, and who brings it. */
interface VolumeFile {
  readonly path: string;
  readonly origin: string;
}

function overlapWarnings(volume: Volume): string[] {
  const { name, configMap, secret, downwardAPI, projected } = volume;
  const warn = (what: string, files: readonly VolumeFile[]) =>
    files.flatMap((file, index) => overlaps(file, files.slice(0, index)).map((why) => overlapText(name, what, why)));
  const found: string[] = [];
  if (configMap !== undefined) found.push(...warn(`ConfigMap ${quote(configMap.name ?? '')}`, filesOf(configMap, '')));
  if (secret !== undefined) found.push(...warn(`Secret ${quote(secret.secretName ?? '')}`, filesOf(secret, '')));
  if (downwardAPI !== undefined) found.push(...warn('DownwardAPI', filesOf(downwardAPI, '')));
  if (projected !== undefined) found.push(...projectedWarnings(name, projected.sources ?? []));
  return found;
}

function overlapText(name: string, what: string, overlap: string): string {
  return `volume ${quote(name)} (${what}): overlapping paths: ${overlap}`;
}

function filesOf({ items = [] }: { readonly items?: readonly { path: string }[] }, origin: string): VolumeFile[] {
  return items.map(({ path }) => volumeFile(path, origin));
}

function projectedWarnings(name: string, sources: readonly VolumeProjection[]): string[] {
  const found: string[] = [];
  const before: VolumeFile[] = [];
  // A source whose files the server does not know is taken for the one before it, which then overlaps with itself.
  let files: VolumeFile[] = [];
  for (const source of sources) {
    if (Object.keys(source).length === 0) {
      found.push(`volume ${quote(name)} (Projected) has no sources provided`);
      continue;
    }
    files = projectionFiles(source) ?? files;
    for (const file of files) {
      found.push(...overlaps(file, before).map((overlap) => overlapText(name, 'Projected', overlap)));
      before.push(file);
    }
  }
  return found;
}

function projectionFiles(source: VolumeProjection): VolumeFile[] | undefined {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle } = source;
  if (configMap?.items !== undefined) return filesOf(configMap, `ConfigMap ${quote(configMap.name ?? '')}`);
  if (secret?.items !== undefined) return filesOf(secret, `Secret ${quote(secret.name ?? '')}`);
  if (downwardAPI?.items !== undefined) return filesOf(downwardAPI, 'DownwardAPI');
  if (serviceAccountToken !== undefined) return [volumeFile(serviceAccountToken.path, 'ServiceAccountToken')];
  if (clusterTrustBundle === undefined) return undefined;
  const { name, signerName = '', path } = clusterTrustBundle;
  return [volumeFile(path, `ClusterTrustBundle ${quote(name ?? signerName)}`)];
}

/** Without slashes at the end. */
function volumeFile(path: string, origin: string): VolumeFile {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return { path: path.slice(0, end), origin };
}

/** `"a/b" with "a"` for each of the others that is the same file, lies above it or below it. */
function overlaps(file: VolumeFile, others: readonly VolumeFile[]): string[] {
  return others
    .filter((other) => touches(file.path, other.path))
    .map((other) => `${printed(file)} with ${printed(other)}`);
}

function touches(one: string, other: string): boolean {
  if (one === '' || other === '') return false;
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

function printed({ path, origin }: VolumeFile): string {
  return origin === '' ? quote(path) : `${quote(path)} (${origin})`;
}
