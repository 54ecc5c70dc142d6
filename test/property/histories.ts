/**
 * Random histories: writes to a cluster and their execution through the public client. Names, labels and namespaces come
 * from small pools, so that writes collide; the pools contain special cases (`a-b/x` sorts before `a/x`, and every
 * JavaScript object has a property `constructor`).
 */

import type { Cluster, ClusterSnapshot, ObjectOf, StorageSettings } from 'orchplane';
import { jsonPatch, mergePatch, StatusError } from 'orchplane';
import { ConfigMap, Namespace, Secret } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import fc from './seeded.js';

export type StoredConfigMap = ObjectOf<typeof ConfigMap>;

export const NAMESPACES = ['a', 'a-b', 'default'] as const;
const NAMES = ['x', 'y', 'y-1', 'constructor'] as const;
const FINALIZER = 'example.com/hold';

type Texts = Readonly<Record<string, string>>;

/** The target of a write: one of the existing objects, or a name that may not exist. */
interface Place {
  readonly namespace: string;
  readonly name: string;
  /** The index of the existing object, modulo their number. */
  readonly nth?: number;
}

/** The content of a write. */
interface Content {
  readonly labels: Texts;
  readonly data: Texts;
}

export type Write =
  | (Place & Content & { readonly type: 'create'; readonly held: boolean })
  | (Place & Content & { readonly type: 'update' | 'edit' | 'merge' })
  | (Place & { readonly type: 'json'; readonly label: string })
  | (Place & { readonly type: 'delete'; readonly foreground: boolean })
  | (Place & { readonly type: 'hold' | 'release' | 'nothing' })
  | (Place & { readonly type: 'stale'; readonly data: Texts })
  | { readonly type: 'deleteCollection'; readonly namespace: string; readonly app: string }
  | { readonly type: 'elsewhere'; readonly name: string; readonly value: string };

export type Step =
  | Write
  | { readonly type: 'advance'; readonly ms: number }
  | { readonly type: 'snapshot' }
  | { readonly type: 'restore'; readonly which: number };

const namespace = fc.constantFrom(...NAMESPACES);
const name = fc.constantFrom(...NAMES);
const value = fc.constantFrom('1', '2', '3');
const labels = fc.record(
  {
    app: fc.constantFrom('web', 'db'),
    tier: fc.constantFrom('front', 'back'),
    constructor: fc.constant('own'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Texts>;
const data: fc.Arbitrary<Texts> = fc.dictionary(fc.constantFrom('k', 'toString', 'l'), value, { maxKeys: 2 });
const content = { labels, data };
const anywhere = { namespace, name };

/** Mostly a write to an existing object; a write to a missing one is rejected, which is also a case. */
function change<Parts extends object>(
  parts: { [Part in keyof Parts]: fc.Arbitrary<Parts[Part]> },
): fc.Arbitrary<Write> {
  return fc.oneof(
    { arbitrary: fc.record({ ...parts, ...anywhere, nth: fc.nat(11) }), weight: 9 },
    { arbitrary: fc.record({ ...parts, ...anywhere }), weight: 1 },
  ) as unknown as fc.Arbitrary<Write>;
}

const create = fc.record({ type: fc.constant('create'), ...anywhere, ...content, held: fc.boolean() });
const update = change({ type: fc.constantFrom('update', 'edit', 'merge'), ...content });
const relabel = change({ type: fc.constant('json'), label: fc.constantFrom('web', 'db') });
const remove = change({ type: fc.constant('delete'), foreground: fc.boolean() });
const finalizers = change({ type: fc.constantFrom('hold', 'release') });
const nothing = change({ type: fc.constant('nothing') });
const stale = change({ type: fc.constant('stale'), data });
const removeMany = fc.record({
  type: fc.constant('deleteCollection'),
  namespace,
  app: fc.constantFrom('web', 'db'),
});
const elsewhere = fc.record({ type: fc.constant('elsewhere'), name, value });

/** One write through the client. */
export const anyWrite: fc.Arbitrary<Write> = fc.oneof(
  { arbitrary: create as fc.Arbitrary<Write>, weight: 10 },
  { arbitrary: update, weight: 6 },
  { arbitrary: relabel, weight: 2 },
  { arbitrary: remove, weight: 3 },
  { arbitrary: finalizers, weight: 3 },
  { arbitrary: nothing, weight: 1 },
  { arbitrary: stale, weight: 1 },
  { arbitrary: removeMany as fc.Arbitrary<Write>, weight: 1 },
  { arbitrary: elsewhere as fc.Arbitrary<Write>, weight: 2 },
);

/** A list of writes. The default size of fast-check is too short for a history. */
export function writes(minLength: number, maxLength: number): fc.Arbitrary<Write[]> {
  return fc.array(anyWrite, { minLength, maxLength, size: 'max' });
}

/** Long enough for events to expire within a run. */
const advance = fc.record({ type: fc.constant('advance'), ms: fc.constantFrom(1, 1_000, 61_000, 200_000) });
const restore = fc.record({ type: fc.constant('restore'), which: fc.nat(3) });

/** A write, or a step that affects the whole cluster. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: anyWrite as fc.Arbitrary<Step>, weight: 20 },
  { arbitrary: advance as fc.Arbitrary<Step>, weight: 2 },
  { arbitrary: fc.constant<Step>({ type: 'snapshot' }), weight: 2 },
  { arbitrary: restore as fc.Arbitrary<Step>, weight: 2 },
);

/** A random history. */
export const histories: fc.Arbitrary<Step[]> = fc.array(anyStep, { minLength: 5, maxLength: 40, size: 'max' });

/** A cluster with the namespaces of the writes. */
export async function newCluster(storage?: StorageSettings): Promise<TestCluster> {
  const cluster = testCluster(storage === undefined ? {} : { storage });
  for (const each of ['a', 'a-b']) await cluster.api(Namespace).create({ metadata: { name: each } });
  return cluster;
}

/** Performs a write. Expected rejections (not found, already exists, …) are not failures. */
export async function perform(cluster: Cluster, write: Write): Promise<void> {
  try {
    await attempt(cluster, await withTarget(cluster, write));
  } catch (error) {
    if (!StatusError.is(error) || !EXPECTED.has(error.reason ?? '')) throw error;
  }
}

const EXPECTED: ReadonlySet<string> = new Set(['NotFound', 'AlreadyExists', 'Conflict', 'Invalid']);

/** The write with its target resolved. */
async function withTarget(cluster: Cluster, write: Write): Promise<Write> {
  if (!('nth' in write) || write.nth === undefined) return write;
  const { items } = await cluster.all(ConfigMap).list();
  const there = items[write.nth % Math.max(items.length, 1)];
  return there === undefined
    ? write
    : { ...write, namespace: there.metadata.namespace ?? '', name: there.metadata.name };
}

async function attempt(cluster: Cluster, write: Write): Promise<unknown> {
  if (write.type === 'elsewhere') return writeElsewhere(cluster, write);
  const configMaps = cluster.api(ConfigMap, write.namespace);
  switch (write.type) {
    case 'create': {
      const finalizers = write.held ? { finalizers: [FINALIZER] } : {};
      return configMaps.create({
        metadata: { name: write.name, labels: write.labels, ...finalizers },
        data: write.data,
      });
    }
    case 'update':
      return configMaps.update({ metadata: { name: write.name, labels: write.labels }, data: write.data });
    case 'edit':
      return configMaps.edit(write.name, (draft) => {
        draft.metadata.labels = { ...write.labels };
        draft.data = { ...write.data };
      });
    case 'merge':
      return configMaps.patch(write.name, mergePatch({ metadata: { labels: write.labels }, data: write.data }));
    case 'json':
      return configMaps.patch(
        write.name,
        jsonPatch([{ op: 'replace', path: '/metadata/labels', value: { app: write.label } }]),
      );
    case 'delete':
      return configMaps.delete(write.name, write.foreground ? { propagation: 'Foreground' } : {});
    case 'hold':
      return configMaps.patch(write.name, mergePatch({ metadata: { finalizers: [FINALIZER] } }));
    case 'release':
      return configMaps.patch(write.name, mergePatch({ metadata: { finalizers: null } }));
    case 'nothing':
      return configMaps.patch(write.name, mergePatch({}));
    case 'stale':
      return configMaps.update({ metadata: { name: write.name, resourceVersion: '1' }, data: write.data });
    case 'deleteCollection':
      return configMaps.deleteCollection({ labels: { app: write.app } });
    default:
      return write satisfies never;
  }
}

/** Writes another kind, which also increases the cluster's resourceVersion. */
async function writeElsewhere(cluster: Cluster, write: { name: string; value: string }): Promise<void> {
  const secrets = cluster.api(Secret);
  const stringData = { value: write.value };
  if ((await secrets.find(write.name)) === undefined) {
    await secrets.create({ metadata: { name: write.name }, stringData });
  } else {
    await secrets.patch(write.name, mergePatch({ stringData }));
  }
}

/** The list of all objects at one version, read when that version was current. */
export interface RecordedState {
  readonly version: string;
  readonly items: readonly StoredConfigMap[];
}

/** A cluster and the recorded states of every version that led to its current one. */
export class RecordedCluster {
  readonly cluster: TestCluster;
  states: RecordedState[] = [];
  /** The number of restores. */
  restores = 0;
  readonly #snapshots: { readonly snapshot: ClusterSnapshot; readonly states: readonly RecordedState[] }[] = [];

  constructor(cluster: TestCluster) {
    this.cluster = cluster;
  }

  static async start(storage?: StorageSettings): Promise<RecordedCluster> {
    const recorded = new RecordedCluster(await newCluster(storage));
    await recorded.#record();
    return recorded;
  }

  /** The current list of all objects. */
  get current(): readonly StoredConfigMap[] {
    return this.states.at(-1)?.items ?? [];
  }

  async run(step: Step): Promise<void> {
    switch (step.type) {
      case 'advance':
        return this.cluster.clock.advance(step.ms);
      case 'snapshot':
        this.#snapshots.push({ snapshot: this.cluster.snapshot(), states: [...this.states] });
        return;
      case 'restore':
        return this.#restore(step.which);
      default:
        await perform(this.cluster, step);
        return this.#record();
    }
  }

  #restore(which: number): void {
    const chosen = this.#snapshots[which % Math.max(this.#snapshots.length, 1)];
    if (chosen === undefined) return;
    this.cluster.restore(chosen.snapshot);
    this.states = [...chosen.states];
    this.restores++;
  }

  async #record(): Promise<void> {
    const { metadata, items } = await this.cluster.all(ConfigMap).list();
    if (this.states.at(-1)?.version !== metadata.resourceVersion) {
      this.states.push({ version: metadata.resourceVersion, items });
    }
  }
}
