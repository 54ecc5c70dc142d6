/**
 * Warnings about valid volumes: deprecated sources and overlapping file paths.
 */

import { childPath, keyPath } from '../../../../meta/field-error.js';
import { Quantity } from '../../../../meta/quantity.js';
import { asSent } from '../../../../schema/empty-values.js';
import { quote } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import { own } from '../../../../util/json.js';
import { getOrInsertComputed } from '../../../../util/once.js';
import type { PersistentVolumeClaimSpec, Volume, VolumeProjection } from '../../../generated/core-v1.js';

/** Warnings about the volumes at `path` (`spec.volumes`). */
export function volumesWarnings(path: string, volumes: readonly Volume[] | undefined): string[] {
  const all = volumes ?? [];
  return [
    ...all.flatMap((volume, index) => sourceWarnings(keyPath(path, index), volume)),
    ...all.flatMap(overlapWarnings),
  ];
}

/** Deprecated sources in the order of the warnings. `ephemeral` is in the list because its position matters. */
const DEPRECATED_SOURCES: readonly (readonly [source: keyof Volume, spelling: string, deprecation: string])[] = [
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

function sourceWarnings(at: string, volume: Volume): string[] {
  return DEPRECATED_SOURCES.filter(([source]) => volume[source] !== undefined).flatMap(
    ([source, spelling, deprecation]) => {
      if (source !== 'ephemeral') return [`${childPath(at, spelling)}: ${deprecation}`];
      const spec = volume.ephemeral?.volumeClaimTemplate?.spec;
      return spec === undefined ? [] : claimSpecWarnings(childPath(at, 'ephemeral.volumeClaimTemplate.spec'), spec);
    },
  );
}

/** Warns about fractional numbers of bytes in the claim's spec at `path`. */
export function claimSpecWarnings(path: string, { resources }: PersistentVolumeClaimSpec): string[] {
  return (['requests', 'limits'] as const).flatMap((list) => {
    const text = own(resources?.[list] ?? {}, 'storage');
    if (text === undefined || Quantity.parse(text).milliValue() % 1000n === 0n) return [];
    const at = keyPath(childPath(path, `resources.${list}`), 'storage');
    return [`${at}: fractional byte value ${quote(Quantity.parse(text).toString())} is invalid, must be an integer`];
  });
}

/** A file of a volume and the source it comes from. */
interface VolumeFile {
  readonly path: string;
  readonly origin: string;
}

function overlapWarnings(volume: Volume): string[] {
  const { name, configMap, secret, downwardAPI, projected } = volume;
  const warn = (what: string, files: readonly VolumeFile[]) => {
    const tree = new FileTree();
    return files.flatMap((file) => tree.add(file).map((overlap) => overlapText(name, what, overlap)));
  };
  const found: string[] = [];
  if (configMap !== undefined) append(found, warn(`ConfigMap ${quote(configMap.name ?? '')}`, filesOf(configMap, '')));
  if (secret !== undefined) append(found, warn(`Secret ${quote(secret.secretName ?? '')}`, filesOf(secret, '')));
  if (downwardAPI !== undefined) append(found, warn('DownwardAPI', filesOf(downwardAPI, '')));
  if (projected !== undefined) append(found, projectedWarnings(name, projected.sources ?? []));
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
  const tree = new FileTree();
  // The reference server reuses the files of the previous source for a source without items, which then overlap themselves.
  let files: VolumeFile[] = [];
  for (const source of sources) {
    if (Object.keys(source).length === 0) {
      found.push(`volume ${quote(name)} (Projected) has no sources provided`);
      continue;
    }
    files = projectionFiles(source) ?? files;
    for (const file of files)
      append(
        found,
        tree.add(file).map((overlap) => overlapText(name, 'Projected', overlap)),
      );
  }
  return found;
}

function projectionFiles(source: VolumeProjection): VolumeFile[] | undefined {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle } = source;
  if (configMap !== undefined && asSent(configMap, 'items') !== undefined)
    return filesOf(configMap, `ConfigMap ${quote(configMap.name ?? '')}`);
  if (secret !== undefined && asSent(secret, 'items') !== undefined)
    return filesOf(secret, `Secret ${quote(secret.name ?? '')}`);
  if (downwardAPI !== undefined && asSent(downwardAPI, 'items') !== undefined)
    return filesOf(downwardAPI, 'DownwardAPI');
  if (serviceAccountToken !== undefined) return [volumeFile(serviceAccountToken.path, 'ServiceAccountToken')];
  if (clusterTrustBundle === undefined) return undefined;
  const { name, signerName = '', path } = clusterTrustBundle;
  return [volumeFile(path, `ClusterTrustBundle ${quote(name ?? signerName)}`)];
}

/** Removes trailing slashes from the path. */
function volumeFile(path: string, origin: string): VolumeFile {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return { path: path.slice(0, end), origin };
}

/** Clients get 4,096 characters of warnings at most. The number of overlaps grows with the square of that of equal paths. */
const MAX_OVERLAPS = 1_000;

/** Operating systems have no longer paths. Each of the steps needs memory. */
const MAX_PATH_LENGTH = 4_096;

/** A file and its position in the order in which files were added. */
interface AddedFile {
  readonly file: VolumeFile;
  readonly order: number;
}

interface FileTreeNode {
  readonly children: Map<string, FileTreeNode>;
  /** The files with this path. */
  readonly here: AddedFile[];
  /** The files with this path or below it. */
  readonly inside: AddedFile[];
}

function newNode(): FileTreeNode {
  return { children: new Map(), here: [], inside: [] };
}

/** Finds files whose paths are equal, or one a parent of the other. */
class FileTree {
  readonly #root = newNode();
  #added = 0;
  #overlaps = 0;

  /** Adds a file and returns `"a/b" with "a"` for each earlier file that it overlaps, in the order of the files. */
  add(file: VolumeFile): string[] {
    if (file.path === '' || file.path.length > MAX_PATH_LENGTH) return [];
    const added = { file, order: this.#added++ };
    const found: AddedFile[] = [];
    const steps = file.path.split('/');
    let node = this.#root;
    for (const [index, step] of steps.entries()) {
      node = getOrInsertComputed(node.children, step, newNode);
      const overlapping = index === steps.length - 1 ? node.inside : node.here;
      if (overlapping.length > 0) append(found, overlapping.slice(0, MAX_OVERLAPS - this.#overlaps));
      node.inside.push(added);
    }
    node.here.push(added);
    found.sort((one, other) => one.order - other.order);
    const reported = found.slice(0, MAX_OVERLAPS - this.#overlaps);
    this.#overlaps += reported.length;
    return reported.map((other) => `${printed(file)} with ${printed(other.file)}`);
  }
}

function printed({ path, origin }: VolumeFile): string {
  return origin === '' ? quote(path) : `${quote(path)} (${origin})`;
}
