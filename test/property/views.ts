/**
 * Views of a collection, and copies of it that only events change. A view evaluates its selectors itself, so that the
 * server's selectors are checked independently.
 */

import type { Cluster, Collection, Watch, WatchEvent } from 'orchplane';
import { StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { expect } from 'vitest';
import type { StoredConfigMap } from './histories.js';
import { NAMESPACES } from './histories.js';
import fc from './seeded.js';

interface Selector {
  readonly text: string;
  readonly shows: (object: StoredConfigMap) => boolean;
}

const label = (object: StoredConfigMap, key: string) => {
  const labels = object.metadata.labels ?? {};
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
};

const LABELS: readonly Selector[] = [
  { text: 'app=web', shows: (o) => label(o, 'app') === 'web' },
  { text: 'app!=web', shows: (o) => label(o, 'app') !== 'web' },
  { text: 'tier', shows: (o) => label(o, 'tier') !== undefined },
  { text: '!tier', shows: (o) => label(o, 'tier') === undefined },
  { text: 'constructor', shows: (o) => label(o, 'constructor') !== undefined },
  { text: 'app in (web,db),tier notin (front)', shows: (o) => !!label(o, 'app') && label(o, 'tier') !== 'front' },
];

const FIELDS: readonly Selector[] = [
  { text: 'metadata.name=y', shows: (o) => o.metadata.name === 'y' },
  { text: 'metadata.name!=x', shows: (o) => o.metadata.name !== 'x' },
  { text: 'metadata.namespace=a', shows: (o) => o.metadata.namespace === 'a' },
  {
    text: 'metadata.name=constructor,metadata.namespace=a-b',
    shows: (o) => o.metadata.name === 'constructor' && o.metadata.namespace === 'a-b',
  },
];

/** A collection with or without selectors. */
export interface View {
  readonly namespace?: string;
  readonly labels?: Selector;
  readonly fields?: Selector;
}

export const anyView: fc.Arbitrary<View> = fc.record(
  {
    namespace: fc.constantFrom(...NAMESPACES),
    labels: fc.constantFrom(...LABELS),
    fields: fc.constantFrom(...FIELDS),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<View>;

export const EVERYTHING: View = {};

export function collectionOf(cluster: Cluster, view: View): Collection<typeof ConfigMap> {
  return view.namespace === undefined ? cluster.all(ConfigMap) : cluster.api(ConfigMap, view.namespace);
}

export function selectorsOf(view: View): { labels?: string; fields?: string } {
  return {
    ...(view.labels === undefined ? {} : { labels: view.labels.text }),
    ...(view.fields === undefined ? {} : { fields: view.fields.text }),
  };
}

/** The items of a list that a view selects. */
export function shownBy(view: View, items: readonly StoredConfigMap[]): StoredConfigMap[] {
  return items.filter(
    (object) =>
      (view.namespace === undefined || object.metadata.namespace === view.namespace) &&
      (view.labels?.shows(object) ?? true) &&
      (view.fields?.shows(object) ?? true),
  );
}

/** The key that orders every list. */
export function keyOf(object: StoredConfigMap): string {
  return `${object.metadata.namespace}/${object.metadata.name}`;
}

/** A copy of a collection that only events change. Fails on an event that does not match its content. */
export class Copy {
  readonly #objects = new Map<string, StoredConfigMap>();
  #version: number;

  constructor(items: readonly StoredConfigMap[], version: string) {
    for (const item of items) this.#objects.set(keyOf(item), item);
    this.#version = Number(version);
  }

  apply(event: WatchEvent<StoredConfigMap>): void {
    const version = Number(event.object.metadata.resourceVersion);
    // A bookmark may have the version of the last event.
    const least = event.type === 'BOOKMARK' ? this.#version : this.#version + 1;
    expect(version, 'versions rise along a watch').toBeGreaterThanOrEqual(least);
    this.#version = version;
    if (event.type === 'BOOKMARK') return;
    const { type, object } = event;
    const known = this.#objects.get(keyOf(object));
    switch (type) {
      case 'ADDED':
        expect(known, 'what is added was not there').toBeUndefined();
        this.#objects.set(keyOf(object), object);
        break;
      case 'MODIFIED':
        expect(known?.metadata.uid, 'what is modified was there').toBe(object.metadata.uid);
        this.#objects.set(keyOf(object), object);
        break;
      case 'DELETED':
        expect(withoutVersion(object), 'what is deleted is shown as it was last seen').toEqual(withoutVersion(known));
        this.#objects.delete(keyOf(object));
        break;
    }
  }

  /** The items in list order. */
  items(): StoredConfigMap[] {
    return [...this.#objects.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, object]) => object);
  }
}

function withoutVersion(object: StoredConfigMap | undefined): unknown {
  return object === undefined ? undefined : { ...object, metadata: { ...object.metadata, resourceVersion: '' } };
}

/** A client that listed a view once and watches it since. */
export class Follower {
  readonly view: View;
  readonly copy: Copy;
  /** All received events in order. */
  readonly events: WatchEvent<StoredConfigMap>[] = [];
  isExpired = false;
  readonly #watch: Watch<StoredConfigMap>;
  #next: Promise<'event' | 'end'> | undefined;

  private constructor(view: View, copy: Copy, watch: Watch<StoredConfigMap>) {
    this.view = view;
    this.copy = copy;
    this.#watch = watch;
  }

  /** Lists, and watches from the version of the list. */
  static async open(cluster: Cluster, view: View, options: { bookmarks?: boolean } = {}): Promise<Follower> {
    const { items, metadata } = await collectionOf(cluster, view).list(selectorsOf(view));
    return Follower.from(cluster, view, { items, version: metadata.resourceVersion, ...options });
  }

  /** Watches from a version at which the view had these items. */
  static from(
    cluster: Cluster,
    view: View,
    start: { readonly items: readonly StoredConfigMap[]; readonly version: string; readonly bookmarks?: boolean },
  ): Follower {
    const watch = collectionOf(cluster, view).watch({
      ...selectorsOf(view),
      resourceVersion: start.version,
      ...(start.bookmarks === true ? { allowWatchBookmarks: true } : {}),
    });
    return Follower.of(watch, view, start);
  }

  /** Continues a watch that was read up to a version. */
  static of(
    watch: Watch<StoredConfigMap>,
    view: View,
    start: { readonly items: readonly StoredConfigMap[]; readonly version: string },
  ): Follower {
    return new Follower(view, new Copy(start.items, start.version), watch);
  }

  /** Reads available events, at most the given number. A pending read continues with the next call. */
  async read(most = Number.POSITIVE_INFINITY): Promise<void> {
    for (let count = 0; count < most && !this.isExpired; count++) {
      this.#next ??= this.#readOne();
      const outcome = await Promise.race([this.#next, turns().then(() => 'idle' as const)]);
      if (outcome !== 'event') return;
      this.#next = undefined;
    }
  }

  close(): void {
    this.#watch.close();
  }

  async #readOne(): Promise<'event' | 'end'> {
    try {
      const { done, value } = await this.#watch.next();
      if (done === true) return 'end';
      this.events.push(value);
      this.copy.apply(value);
      return 'event';
    } catch (error) {
      if (!StatusError.is(error, 'Expired')) throw error;
      this.isExpired = true;
      return 'end';
    }
  }
}

/** Waits long enough for all pending microtasks. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await undefined;
}
