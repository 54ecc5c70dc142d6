/**
 * Kinds made addressable: by the resource in a URL and by the kind in a document, in one dialect. Each cluster has a
 * registry of its own.
 */
import type { Kind } from '../kinds/kind.js';
import { type ServedKind, serveKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import type { GroupVersionKind, GroupVersionResource } from '../meta/gvk.js';
import { qualifiedKind, qualifiedResource } from '../meta/gvk.js';

export class Registry {
  readonly #dialect: Dialect;
  readonly #byResource = new Map<string, ServedKind>();
  readonly #byAddress = new WeakMap<GroupVersionResource, ServedKind>();
  readonly #byKind = new Map<string, ServedKind>();
  readonly #builtInGroups = new Set<string>();

  constructor(dialect: Dialect, kinds: Iterable<Kind>) {
    this.#dialect = dialect;
    for (const kind of kinds) this.install(kind);
  }

  /** Makes a kind served. Installing the same kind again does nothing; another one under its names is refused. */
  install(kind: Kind): ServedKind {
    const served = serveKind(kind, this.#dialect);
    const present = this.#byResource.get(resourceId(served.gvr)) ?? this.#byKind.get(kindId(served.gvk));
    if (present?.kind === kind) return present;
    if (present !== undefined) {
      const names = `${qualifiedResource(served.groupResource)} or ${qualifiedKind(served.gvk)}`;
      throw new Error(`orchplane: another kind is already served as ${names} in ${served.apiVersion}`);
    }
    const otherVersion = this.all().find((other) => other.storage === served.storage);
    if (otherVersion !== undefined) {
      const versions = `${otherVersion.apiVersion} and ${served.apiVersion}`;
      throw new Error(
        `orchplane: ${qualifiedKind(served.gvk)} cannot be served in two versions (${versions}): there is no conversion between versions yet`,
      );
    }
    this.#byResource.set(resourceId(served.gvr), served);
    this.#byKind.set(kindId(served.gvk), served);
    if (kind.schema.manner === 'struct') this.#builtInGroups.add(served.gvr.group);
    return served;
  }

  byResource(gvr: GroupVersionResource): ServedKind | undefined {
    // A client sends the same address object again and again; looking it up by identity saves building its text.
    let served = this.#byAddress.get(gvr);
    if (served === undefined) {
      served = this.#byResource.get(resourceId(gvr));
      if (served !== undefined) this.#byAddress.set(gvr, served);
    }
    return served;
  }

  byKind(gvk: GroupVersionKind): ServedKind | undefined {
    return this.#byKind.get(kindId(gvk));
  }

  /** True for groups in which built-in kinds live: what they do not serve is refused differently. */
  hasBuiltIns(group: string): boolean {
    return this.#builtInGroups.has(group);
  }

  /** In the order of installation. */
  all(): readonly ServedKind[] {
    return [...this.#byResource.values()];
  }

  /** An independent registry with the same kinds. */
  fork(): Registry {
    return new Registry(
      this.#dialect,
      this.all().map((served) => served.kind),
    );
  }
}

function resourceId(gvr: GroupVersionResource): string {
  return `${gvr.group}/${gvr.version}/${gvr.resource}`;
}

function kindId(gvk: GroupVersionKind): string {
  return `${gvk.group}/${gvk.version}/${gvk.kind}`;
}
