/** Test cases that every journal must pass, for any test runner: in Node and in a page. */
import { type ApiObject, createCluster, type Journal, JournalError, StatusError } from 'orchplane';
import { ConfigMap, CustomResourceDefinition, Namespace } from 'orchplane/kinds';
import { nextTurn } from '../../../../src/util/clock.js';

/** A storage location for the journal of one case. */
export interface JournalPlace {
  /**
   * Opens the journal of this location, also after it was closed. `small` sets a `compactAfter` that a test reaches.
   */
  open(size?: 'small' | 'usual'): Journal | Promise<Journal>;
}

export type JournalCases = Readonly<Record<string, (place: JournalPlace) => Promise<void>>>;

function same(actual: unknown, expected: unknown): void {
  const text = (value: unknown) => JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item));
  if (text(actual) !== text(expected)) throw new Error(`expected ${text(expected)}, got ${text(actual)}`);
}

async function failure(run: () => unknown): Promise<Error> {
  try {
    await run();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected a failure');
}

type Cluster = ReturnType<typeof createCluster>;

/**
 * A cluster of this location, as soon as the previous owner has released it. Disks and databases release
 * asynchronously.
 */
async function onceFree(place: JournalPlace): Promise<Cluster> {
  for (;;) {
    try {
      return createCluster({ journal: await place.open() });
    } catch (error) {
      if (!(error instanceof JournalError && /in use/.test(error.message))) throw error;
      await nextTurn();
    }
  }
}

/** All stored objects of all kinds, with the resourceVersion. */
function everything(cluster: Cluster): unknown {
  const kinds = cluster
    .kinds()
    .filter(({ verbs, storageKind: storedAs }) => verbs.includes('list') && storedAs === undefined);
  const objects = kinds.flatMap(({ gvr }) => cluster.storageReader.objects.list(gvr));
  const keyOf = ({ apiVersion, kind, metadata }: ApiObject) =>
    `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
  return [cluster.resourceVersion, objects.sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))];
}

const definition = {
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-orch-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
} as const;

export const journalCases: JournalCases = {
  'restores a cluster as it was': async (place) => {
    const first = createCluster({ journal: await place.open() });
    const maps = first.api(ConfigMap);
    for (let i = 0; i < 20; i++) await maps.create({ metadata: { name: `m${i}` }, data: { n: String(i) } });
    await maps.edit('m3', (draft) => {
      draft.data = { n: 'other' };
    });
    await maps.delete('m4');
    await first.api(Namespace).create({ metadata: { name: 'more' } });
    const before = everything(first);
    await first.close();
    const second = createCluster({ journal: await place.open() });
    same(everything(second), before);
    const made = await second.api(ConfigMap).create({ metadata: { name: 'later' } });
    same(Number(made.metadata.resourceVersion), Number(first.resourceVersion) + 1);
    await second.close();
  },

  'serves custom resources from the start, and keeps values that JSON cannot represent': async (place) => {
    const first = createCluster({ journal: await place.open() });
    await first.api(CustomResourceDefinition).create(definition as never);
    const spec = {
      big: 9007199254740993n,
      zero: -0,
      near: 2 ** 53,
      half: '\ud800',
      ['__proto__']: { x: 1n },
      at: [5n],
    };
    await first.api(first.kind('example.com/v1', 'Gadget')).create({ metadata: { name: 'g' }, spec } as never);
    await first.close();
    const second = createCluster({ journal: await place.open() });
    const gadgets = second.api(second.kind('example.com/v1', 'Gadget'));
    const kept = (await gadgets.get('g')) as unknown as { spec: typeof spec };
    same(kept.spec.big, 9007199254740993n);
    same([Object.is(kept.spec.zero, -0), typeof kept.spec.near, kept.spec.half], [true, 'number', '\ud800']);
    same([Object.hasOwn(kept.spec, '__proto__'), kept.spec.at[0]], [true, 5n]);
    await second.close();
  },

  'continues watches from a resourceVersion before the restart': async (place) => {
    const first = createCluster({ journal: await place.open() });
    const { metadata } = await first.api(ConfigMap).list();
    await first.api(ConfigMap).create({ metadata: { name: 'a' } });
    await first.api(ConfigMap).delete('a');
    await first.close();
    const second = createCluster({ journal: await place.open() });
    const watch = second.api(ConfigMap).watch({ resourceVersion: metadata.resourceVersion });
    const [added, deleted] = [await watch.next(), await watch.next()];
    same([added.value?.type, deleted.value?.type], ['ADDED', 'DELETED']);
    await second.close();
  },

  'compacts a long journal into a checkpoint without losing objects': async (place) => {
    const first = createCluster({ journal: await place.open('small') });
    const maps = first.api(ConfigMap);
    await maps.create({ metadata: { name: 'a' }, data: { n: '0' } });
    for (let i = 1; i <= 150; i++) {
      const writing = maps.edit('a', (draft) => {
        draft.data = { n: String(i) };
      });
      if (i % 7 === 0) await writing;
      else await writing.catch(() => undefined);
    }
    const before = everything(first);
    await first.close();
    const second = createCluster({ journal: await place.open('small') });
    same(everything(second), before);
    await second.close();
  },

  'records a restore': async (place) => {
    const first = createCluster({ journal: await place.open() });
    await first.api(ConfigMap).create({ metadata: { name: 'kept' } });
    const snapshot = first.snapshot();
    await first.api(ConfigMap).create({ metadata: { name: 'undone' } });
    first.restore(snapshot);
    await first.api(ConfigMap).create({ metadata: { name: 'after' } });
    const before = everything(first);
    await first.close();
    const second = createCluster({ journal: await place.open() });
    same(everything(second), before);
    await second.close();
  },

  'rejects a watch from a resourceVersion that a restore removed, also after a restart': async (place) => {
    const first = createCluster({ journal: await place.open() });
    const snapshot = first.snapshot();
    for (const name of ['a', 'b']) await first.api(ConfigMap).create({ metadata: { name } });
    const undone = first.resourceVersion;
    first.restore(snapshot);
    await first.close();
    const second = createCluster({ journal: await place.open() });
    const watch = second.api(ConfigMap).watch({ resourceVersion: undone });
    same(StatusError.is(await failure(() => watch.next()), 'Expired'), true);
    await second.close();
  },

  'does not record writes to forks': async (place) => {
    const first = createCluster({ journal: await place.open() });
    await first
      .fork()
      .api(ConfigMap)
      .create({ metadata: { name: 'elsewhere' } });
    await first.close();
    const second = createCluster({ journal: await place.open() });
    same((await second.api(ConfigMap).list()).items, []);
    await second.close();
  },

  'uses the initial state for a new journal only': async (place) => {
    const object = (name: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        namespace: 'default',
        uid: 'u',
        resourceVersion: '9',
        creationTimestamp: '2030-01-01T00:00:00Z',
      },
    });
    const from = (name: string) => ({ resourceVersion: '40', objects: [object(name)] });
    await createCluster({ journal: await place.open(), from: from('first') }).close();
    const second = createCluster({ journal: await place.open(), from: from('second') });
    same([second.resourceVersion, (await second.api(ConfigMap).list()).items[0]?.metadata.name], ['40', 'first']);
    await second.close();
  },

  'allows one cluster at a time': async (place) => {
    const journal = await place.open();
    const first = createCluster({ journal });
    same((await failure(() => createCluster({ journal }))).name, 'JournalError');
    const error = await failure(async () => createCluster({ journal: await place.open() }));
    same(error instanceof JournalError && /in use/.test(error.message), true);
    // The failed attempts have no effect on the owner.
    await first.api(ConfigMap).create({ metadata: { name: 'a' } });
    await first.close();
    await createCluster({ journal: await place.open() }).close();
  },

  'rejects a cluster of another dialect, and releases the journal': async (place) => {
    await createCluster({ journal: await place.open() }).close();
    const error = await failure(async () => createCluster({ journal: await place.open(), dialect: 'kubernetes' }));
    same(error.message.includes('dialect "orch", not "kubernetes"'), true);
    await (await onceFree(place)).close();
  },

  'rejects writes after it is closed': async (place) => {
    const journal = await place.open();
    const cluster = createCluster({ journal });
    await journal.close();
    const error = await failure(() => cluster.api(ConfigMap).create({ metadata: { name: 'a' } }));
    same([StatusError.is(error, 'ServiceUnavailable'), error.message.includes('the journal is closed')], [true, true]);
    same((await cluster.api(ConfigMap).list()).items, []);
  },
};
