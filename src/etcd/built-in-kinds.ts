/**
 * The built-in kinds in a dialect, whether a cluster serves them or not: an etcd may contain objects of all of them.
 */
import { builtInKinds } from '../kinds/index.js';
import { removedKinds } from '../kinds/releases/index.js';
import { type ServedKind, serveKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import { getOrInsertComputed } from '../util/once.js';

export interface BuiltInKinds {
  /** The kinds in whose versions this library stores objects, by storage key. */
  readonly storageKinds: ReadonlyMap<string, ServedKind>;
  /** A version of a kind, also one that no release serves any more. */
  version(apiVersion: string, kind: string): ServedKind | undefined;
  /** The versions of a kind that are not the storage version. */
  otherVersions(storageKey: string): readonly ServedKind[];
}

const byDialect = new WeakMap<Dialect, BuiltInKinds>();

export function builtInKindsIn(dialect: Dialect): BuiltInKinds {
  return getOrInsertComputed(byDialect, dialect, findKinds);
}

function findKinds(dialect: Dialect): BuiltInKinds {
  const storageKinds = new Map<string, ServedKind>();
  const versions = new Map<string, ServedKind>();
  for (const kind of [...builtInKinds, ...removedKinds]) {
    if (kind.virtual !== undefined) continue;
    const served = serveKind(kind, dialect);
    versions.set(`${served.apiVersion} ${kind.kind}`, served);
    if (served.storageKind === undefined) storageKinds.set(served.storageKey, served);
  }
  const others = [...versions.values()].filter(({ storageKind }) => storageKind !== undefined);
  return {
    storageKinds,
    version: (apiVersion, kind) => versions.get(`${apiVersion} ${kind}`),
    otherVersions: (storageKey) => others.filter((served) => served.storageKey === storageKey),
  };
}
