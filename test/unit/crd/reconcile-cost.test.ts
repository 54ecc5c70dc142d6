/** What a reconcile of CRDs reads, counted at the interface to the server. */
import { describe, expect, test } from 'vitest';
import { createCrdReconciler } from '../../../src/crd/lifecycle/reconciler.js';
import type { ReconcilerHost } from '../../../src/kinds/reconciler.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import type { ApiObject, DraftObject } from '../../../src/meta/object.js';

const GROUP = 'example.com';

function crd(index: number, shortNames: readonly string[] = []): ApiObject {
  const names = {
    plural: `gears${index}`,
    singular: `gear${index}`,
    kind: `Gear${index}`,
    listKind: `Gear${index}List`,
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gears${index}.${GROUP}`, uid: `${index}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: shortNames.length === 0 ? names : { ...names, shortNames },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  } as unknown as ApiObject;
}

/** The part of a server that the reconciler of CRDs uses, with counters. */
function fakeServer() {
  const stored = new Map<string, ApiObject>();
  const counts = { listed: 0, lists: 0, gets: 0, writes: 0, served: 0 };
  let changes = 0;
  let changed: Set<string> | undefined;
  const put = (object: ApiObject) => {
    stored.set(object.metadata.name, object);
    changed?.add(object.metadata.name);
    changes++;
  };
  const host: Partial<ReconcilerHost> = {
    dialect: kubernetesDialect,
    objects: {
      get: ({ name }) => {
        counts.gets++;
        return stored.get(name);
      },
      list: ({ resource }) => {
        if (resource !== 'customresourcedefinitions') return [];
        counts.lists++;
        counts.listed += stored.size;
        return [...stored.values()];
      },
    },
    external: { conversions: {}, runtimeSlot: { runtime: undefined }, uid: () => 'uid' },
    now: () => '2030-01-01T00:00:00Z',
    serveCustomKinds: () => {
      counts.served++;
    },
    endWatches: () => undefined,
    installedKinds: () => [],
    writeStatus: (object, change) => {
      counts.writes++;
      const draft = structuredClone(object) as unknown as DraftObject;
      change(draft);
      put(draft as unknown as ApiObject);
      return true;
    },
    changedNames: () => {
      const names = changed;
      changed = new Set();
      return names;
    },
    lastChange: () => changes,
    isWriting: () => false,
    pace: () => true,
  };
  const reconciler = createCrdReconciler(host as ReconcilerHost);
  return {
    reconciler,
    put,
    /** Marks a CRD as deleted; its cleanup waits for the pace of the server. */
    terminate: (name: string) => {
      const { metadata, ...rest } = stored.get(name) as ApiObject;
      const finalizers = ['customresourcecleanup.apiextensions.k8s.io'];
      put({ ...rest, metadata: { ...metadata, finalizers, deletionTimestamp: '2030-01-01T00:00:00Z' } } as ApiObject);
    },
    remove: (name: string) => {
      stored.delete(name);
      changed?.add(name);
      changes++;
    },
    conditionsOf: (name: string) => (stored.get(name) as unknown as WithConditions).status.conditions,
    /** Runs a step and returns what it added to the counters. */
    count: (step: () => void) => {
      const before = { ...counts };
      step();
      return Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, value - before[name as 'gets']]));
    },
  };
}

interface WithConditions {
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}

describe('the reconciler of CRDs', () => {
  test('reads only the new CRD, however many there are', () => {
    const { reconciler, put, count } = fakeServer();
    const create = (index: number) => {
      put(crd(index));
      reconciler.reconcile();
    };
    create(0);
    const second = count(() => create(1));
    for (let index = 2; index < 300; index++) create(index);
    const last = count(() => create(300));
    expect(last).toEqual(second);
    expect(last).toMatchObject({ lists: 0, listed: 0, served: 1, writes: 2 });
  });

  test('does not read CRDs again whose cleanup waits', () => {
    const { reconciler, put, terminate, count, conditionsOf } = fakeServer();
    for (let index = 0; index < 50; index++) put(crd(index));
    reconciler.reconcile();
    const costs = Array.from({ length: 50 }, (_, index) =>
      count(() => {
        terminate(`gears${index}.${GROUP}`);
        reconciler.reconcile();
      }),
    );
    expect(conditionsOf(`gears49.${GROUP}`)).toContainEqual(
      expect.objectContaining({ type: 'Terminating', status: 'True' }),
    );
    expect(costs[49]).toEqual(costs[1]);
  });

  test('reads nothing if no CRD has changed', () => {
    const { reconciler, put, count } = fakeServer();
    put(crd(0));
    reconciler.reconcile();
    expect(count(() => reconciler.reconcile())).toEqual({ listed: 0, lists: 0, gets: 0, writes: 0, served: 0 });
  });

  test('accepts a name that the deletion of another CRD has freed', () => {
    const { reconciler, put, remove, conditionsOf } = fakeServer();
    const namesAccepted = () => conditionsOf(`gears1.${GROUP}`).find(({ type }) => type === 'NamesAccepted')?.status;
    put(crd(0, ['gr']));
    reconciler.reconcile();
    put(crd(1, ['gr']));
    reconciler.reconcile();
    expect(namesAccepted()).toBe('False');
    remove(`gears0.${GROUP}`);
    reconciler.reconcile();
    expect(namesAccepted()).toBe('True');
  });
});
