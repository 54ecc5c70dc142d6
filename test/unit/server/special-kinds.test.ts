/**
 * Kinds with special behaviour: several versions, view and action subresources, virtual kinds, grace periods,
 * allocation.
 */
import type { Kind } from 'orchplane';
import { mergePatch, StatusError } from 'orchplane';
import { testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { anotherVersion, defineBuiltIn } from '../../../src/kinds/define-kind.js';
import type { StrategyContext } from '../../../src/kinds/kind.js';
import { invalid } from '../../../src/meta/field-error.js';
import type { InputBase, ObjectBase } from '../../../src/meta/object.js';
import { always, int32, optional, string, type as typeNamed } from '../../../src/schema/declare.js';
import type { Journal } from '../../../src/storage/journal/types.js';
import { failureOf, latch, Reader } from './watch-reader.js';

interface Spec {
  size?: number;
}
interface Gadget extends ObjectBase {
  spec: Spec;
}
interface GadgetInput extends InputBase {
  spec?: Spec;
}
interface OldGadget extends ObjectBase {
  width?: number;
}
interface OldGadgetInput extends InputBase {
  width?: number;
}

const spec = typeNamed('GadgetSpec', () => ({ size: optional(int32()) }));
const scale = defineBuiltIn<ObjectBase, InputBase, 'Namespaced', never>({
  apiVersion: 'example.com/v1',
  kind: 'Size',
  scope: 'Namespaced',
  body: () => ({ value: int32() }),
  strategy: {
    create: {
      validate: (object) => ((object['value'] as number) < 0 ? [invalid('value', object['value'], 'too small')] : []),
    },
  },
});
const order = defineBuiltIn<ObjectBase, InputBase, 'Namespaced', never>({
  apiVersion: 'example.com/v1',
  kind: 'Order',
  scope: 'Namespaced',
  body: () => ({ what: optional(string()) }),
});

let ran: StrategyContext | undefined;
let released: string[] = [];

const Gadget: Kind<Gadget, GadgetInput, 'Namespaced', 'size' | 'order'> = defineBuiltIn({
  apiVersion: 'example.com/v2',
  kind: 'Gadget',
  scope: 'Namespaced',
  body: () => ({ spec: always(spec()) }),
  strategy: {
    write: {
      generation: (next, live) => (next['spec'] as Spec).size !== (live['spec'] as Spec).size,
      release: (gone) => released.push(gone.metadata.name),
    },
    delete: { gracePeriod: (_live, requested) => requested ?? 30 },
    read: {
      selectableFields: { 'spec.size': (object) => String((object['spec'] as Spec).size ?? 0) },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
  subresources: {
    size: {
      type: 'view',
      verbs: ['get', 'update', 'patch'],
      kind: scale,
      read: (live) => ({
        kind: '',
        apiVersion: '',
        metadata: { name: live.metadata.name, namespace: live.metadata.namespace ?? '', uid: live.metadata.uid },
        value: (live['spec'] as Spec).size ?? 0,
      }),
      write: (view, draft) => {
        draft['spec'] = { size: view['value'] };
      },
    },
    order: {
      type: 'action',
      verbs: ['create'],
      kind: order,
      run(body, context) {
        ran = context;
        const address = { group: 'example.com', resource: 'gadgets', namespace: context.namespace, name: 'a' };
        context.objects.change(address, (draft) => {
          draft['spec'] = { size: 100 };
        });
        return { ...body, what: `done ${String(body['what'])}` };
      },
    },
  },
});

const OldGadget: Kind<OldGadget, OldGadgetInput, 'Namespaced', never> = anotherVersion(Gadget, {
  apiVersion: 'example.com/v1',
  body: () => ({ width: optional(int32()) }),
  subresources: {},
  strategy: {
    write: { generation: (next, live) => next['width'] !== live['width'] },
    read: { selectableFields: { width: (object) => String(object['width'] ?? 0) } },
  },
  toStored(draft) {
    draft['spec'] = draft['width'] === undefined ? {} : { size: draft['width'] };
    delete draft['width'];
  },
  fromStored(draft) {
    const { size } = draft['spec'] as Spec;
    if (size !== undefined) draft['width'] = size;
    delete draft['spec'];
  },
});

function open() {
  const cluster = testCluster({ kinds: [Gadget, OldGadget] });
  return { cluster, gadgets: cluster.api(Gadget), old: cluster.api(OldGadget) };
}

let { cluster, gadgets, old } = open();

beforeEach(() => {
  ({ cluster, gadgets, old } = open());
  ran = undefined;
  released = [];
});

describe('two versions of one kind', () => {
  test('converts two versions of one kind from one stored object', async () => {
    const created = await old.create({ metadata: { name: 'a' }, width: 3 });
    expect(created).toMatchObject({ apiVersion: 'example.com/v1', kind: 'Gadget', width: 3 });
    const stored = await gadgets.get('a');
    expect(stored).toMatchObject({ apiVersion: 'example.com/v2', spec: { size: 3 } });
    expect(stored.metadata).toEqual(created.metadata);
    expect(Object.keys(stored)).toEqual(['kind', 'apiVersion', 'metadata', 'spec']);
    await gadgets.edit('a', (draft) => {
      draft.spec.size = 4;
    });
    expect((await old.get('a')).width).toBe(4);
  });

  test('serves each version of a kind as the same frozen object on every read', async () => {
    await gadgets.create({ metadata: { name: 'a' }, spec: { size: 1 } });
    const [first, second] = [await old.get('a'), await old.get('a')];
    expect(first).toBe(second);
    expect(Object.isFrozen(first.metadata)).toBe(true);
    expect((await old.list()).items[0]).toBe(first);
  });

  test('supports patches and field selectors in each version, and updates with the current resourceVersion only', async () => {
    await gadgets.create({ metadata: { name: 'a' }, spec: { size: 1 } });
    const patched = await old.patch('a', mergePatch({ width: 7 }));
    expect(patched.width).toBe(7);
    expect((await old.list({ fields: 'width=7' })).items).toHaveLength(1);
    expect((await gadgets.list({ fields: 'spec.size=7' })).items).toHaveLength(1);
    await expect(old.update({ ...patched, metadata: { ...patched.metadata, resourceVersion: '1' } })).rejects.toThrow(
      'the object has been modified',
    );
    expect(await old.update(patched)).toBe(patched);
  });

  test('sends watch events in the requested version', async () => {
    const watch = old.watch();
    await gadgets.create({ metadata: { name: 'a' }, spec: { size: 2 } });
    const { value } = await watch.next();
    expect(value).toMatchObject({ type: 'ADDED', object: { apiVersion: 'example.com/v1', width: 2 } });
    await gadgets.delete('a', { gracePeriodSeconds: 0 });
    expect((await watch.next()).value).toMatchObject({ type: 'MODIFIED', object: { width: 2 } });
    expect((await watch.next()).value).toMatchObject({ type: 'DELETED', object: { width: 2 } });
    watch.close();
  });

  test('serves two versions of one kind in forks', async () => {
    await old.create({ metadata: { name: 'a' }, width: 3 });
    const fork = cluster.fork();
    expect((await fork.api(OldGadget).get('a')).width).toBe(3);
    expect((await fork.api(Gadget).get('a')).spec.size).toBe(3);
  });

  describe('of which one cannot be converted', () => {
    const BrokenGadget = anotherVersion<OldGadget, OldGadgetInput, 'Namespaced', never>(Gadget, {
      apiVersion: 'example.com/v0',
      subresources: {},
      fromStored(draft) {
        if (draft.metadata.name === 'bad') throw new TypeError('the size is missing');
      },
    });
    const WARNING = 'a watch of gadgets.example.com failed: the size is missing';
    const FAILURE = { reason: 'InternalError', code: 500, message: 'Internal error occurred: the size is missing' };

    test('ends a watch with an internal error, but not the write that causes it', async () => {
      const warnings: string[] = [];
      const onWarning = (warning: string): void => void warnings.push(warning);
      const broken = testCluster({ kinds: [Gadget, BrokenGadget], onWarning });
      const reader = new Reader(broken.api(BrokenGadget).watch());
      expect(await reader.read()).toBe('waiting');
      await broken.api(Gadget).create({ metadata: { name: 'good' } });
      expect(await reader.readAll()).toEqual(['ADDED good']);
      await broken.api(Gadget).create({ metadata: { name: 'bad' } });
      expect(await failureOf(reader.read())).toMatchObject(FAILURE);
      expect(await reader.read()).toBe('end');
      expect(warnings).toEqual([WARNING]);
    });

    test('ends a watch with an internal error when the event is durable', async () => {
      const { opened: durable, open: flush } = latch();
      let isDurable = true;
      const journal: Journal = {
        load: () => undefined,
        append: () => undefined,
        reset: () => undefined,
        whenDurable: () => (isDurable ? undefined : durable),
        get durableRevision() {
          return isDurable ? Number.POSITIVE_INFINITY : 0;
        },
        close: async () => undefined,
      };
      const warnings: string[] = [];
      const onWarning = (warning: string): void => void warnings.push(warning);
      const broken = testCluster({ kinds: [Gadget, BrokenGadget], journal, onWarning });
      const reader = new Reader(broken.api(BrokenGadget).watch());
      expect(await reader.read()).toBe('waiting');
      isDurable = false;
      const created = broken.api(Gadget).create({ metadata: { name: 'bad' } });
      expect(await reader.read()).toBe('waiting');
      isDurable = true;
      flush();
      await created;
      expect(await failureOf(reader.read())).toMatchObject(FAILURE);
      expect(await reader.read()).toBe('end');
      expect(warnings).toEqual([WARNING]);
    });
  });
});

describe('a view subresource', () => {
  const send = (verb: 'get' | 'update' | 'patch', more: object = {}) =>
    cluster.send({
      verb,
      resource: { group: 'example.com', version: 'v2', resource: 'gadgets' },
      namespace: 'default',
      name: 'a',
      subresource: 'size',
      options: {},
      ...more,
    });
  const body = (value: unknown) => ({ body: { read: () => ({ value }), summary: () => '' } });

  test('serves a part of the object as a view subresource, and changes it by its rules', async () => {
    const created = await gadgets.create({ metadata: { name: 'a' }, spec: { size: 1 } });
    const { object: view } = (await send('get')) as unknown as { object: { value: number; metadata: object } };
    expect(view).toMatchObject({ kind: 'Size', apiVersion: 'example.com/v1', value: 1 });
    expect(view.metadata).toMatchObject({
      uid: created.metadata.uid,
      resourceVersion: created.metadata.resourceVersion,
    });
    const updated = await send('update', body({ metadata: { name: 'a' }, value: 5 }));
    expect(updated).toMatchObject({ code: 200, object: { value: 5 } });
    expect(await gadgets.get('a')).toMatchObject({ spec: { size: 5 }, metadata: { generation: 2 } });
    await send('patch', { patchType: 'merge', ...body({ value: 6 }) });
    expect((await gadgets.get('a')).spec.size).toBe(6);
  });

  test('rejects invalid values, another uid, a stale resourceVersion and a missing object in a view subresource', async () => {
    await gadgets.create({ metadata: { name: 'a' } });
    const update = (value: object) => Promise.resolve().then(() => send('update', body(value)));
    await expect(update({ metadata: { name: 'a' }, value: -1 })).rejects.toThrow('Size.example.com "a" is invalid');
    await expect(update({ metadata: { name: 'a', uid: 'x' }, value: 1 })).rejects.toThrow('UID in precondition: x');
    await expect(update({ metadata: { name: 'a', resourceVersion: '1' }, value: 1 })).rejects.toThrow('modified');
    await expect(update({ metadata: { name: 'b' }, value: 1 })).rejects.toThrow('does not match the name on the URL');
    expect((await gadgets.get('a')).spec).toEqual({});
    await gadgets.delete('a', { gracePeriodSeconds: 0 });
    await expect(update({ metadata: { name: 'a' }, value: 1 })).rejects.toThrow('gadgets.example.com "a" not found');
  });
});

test('passes the body to an action subresource, which may change objects and responds with 201', async () => {
  await gadgets.create({ metadata: { name: 'a' } });
  const answer = await cluster.send({
    verb: 'create',
    resource: { group: 'example.com', version: 'v2', resource: 'gadgets' },
    namespace: 'default',
    name: 'a',
    subresource: 'order',
    options: {},
    body: { read: () => ({ value: { what: 'it' } }), summary: () => '' },
  });
  expect(answer).toMatchObject({ code: 201, object: { kind: 'Order', what: 'done it' } });
  expect((await gadgets.get('a')).spec.size).toBe(100);
  expect(ran?.namespace).toBe('default');
});

describe('a deletion grace period', () => {
  test('keeps an object with a grace period until the period is shortened to zero', async () => {
    await gadgets.create({ metadata: { name: 'a' } });
    const deleted = async (options?: { gracePeriodSeconds: number }) => {
      await gadgets.delete('a', options);
      return gadgets.get('a');
    };
    const dying = await deleted();
    expect(dying.metadata).toMatchObject({
      deletionTimestamp: '2030-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
      generation: 2,
    });
    // A longer or equal period changes nothing, nor does a second delete without a period.
    for (const gracePeriodSeconds of [40, 30]) {
      expect(await deleted({ gracePeriodSeconds })).toBe(dying);
    }
    expect(await deleted()).toBe(dying);
    const sooner = await deleted({ gracePeriodSeconds: 10 });
    expect(sooner.metadata).toMatchObject({
      deletionTimestamp: '2030-01-01T00:00:10Z',
      deletionGracePeriodSeconds: 10,
      generation: 2,
    });
    expect(released).toEqual([]);
    await gadgets.delete('a', { gracePeriodSeconds: 0 });
    expect(await gadgets.find('a')).toBeUndefined();
    expect(released).toEqual(['a']);
  });

  test('waits for finalizers after a grace period of zero', async () => {
    await gadgets.create({ metadata: { name: 'a', finalizers: ['example.com/hold'] } });
    await gadgets.delete('a', { gracePeriodSeconds: 0 });
    expect((await gadgets.get('a')).metadata.deletionGracePeriodSeconds).toBe(0);
    await gadgets.patch('a', mergePatch({ metadata: { finalizers: null } } as never));
    expect(await gadgets.find('a')).toBeUndefined();
    expect(released).toEqual(['a']);
  });

  test('does not start a grace period in a dry run', async () => {
    const created = await gadgets.create({ metadata: { name: 'a' } });
    await gadgets.delete('a', { gracePeriodSeconds: 0, dryRun: true });
    await gadgets.delete('a', { dryRun: true });
    expect(await gadgets.get('a')).toBe(created);
    expect(released).toEqual([]);
  });
});

const Question: Kind<ObjectBase & { answer?: string }, InputBase, 'Cluster', never> = defineBuiltIn({
  apiVersion: 'example.com/v1',
  kind: 'Question',
  scope: 'Cluster',
  verbs: ['create', 'get', 'list'],
  body: () => ({ answer: optional(string()) }),
  deprecation: () => 'questions are deprecated',
  virtual: {
    create: (draft, { user }) => ({ ...draft, answer: user.user }),
    get: (name) => ({ kind: '', apiVersion: '', metadata: { name }, answer: 'looked up' }),
    list: () => [{ kind: '', apiVersion: '', metadata: { name: 'one' } }],
  },
});

test('answers a virtual kind with a warning and stores nothing', async () => {
  const asking = testCluster({ kinds: [Question] });
  const warnings: string[] = [];
  const questions = asking.with({ onWarning: (text) => warnings.push(text) }).api(Question);
  const before = asking.resourceVersion;
  const answer = await questions.create({ metadata: {} } as never);
  expect(answer).toMatchObject({ kind: 'Question', apiVersion: 'example.com/v1', answer: 'system:admin' });
  expect(answer.metadata.uid).toBeUndefined();
  expect((await questions.get('x')).answer).toBe('looked up');
  expect((await questions.list()).items.map((item) => item.metadata.name)).toEqual(['one']);
  expect(asking.resourceVersion).toBe(before);
  expect(warnings).toEqual(Array(3).fill('questions are deprecated'));
  const error: unknown = await questions.delete('x').catch((failure: unknown) => failure);
  expect(StatusError.is(error, 'MethodNotAllowed')).toBe(true);
});
