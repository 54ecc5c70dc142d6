/** The verbs of the client: requests, results and failures. */
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import { jsonPatch, mergePatch, strategicPatch } from '../../../src/client/patches.js';
import { errors, StatusError } from '../../../src/meta/errors.js';
import { successStatus } from '../../../src/meta/status.js';
import type { ApiResponse } from '../../../src/protocol/response.js';
import { answer, deferred, FakeTransport, listOf, Rack, Widget, widget } from './fakes.js';

type Script = ConstructorParameters<typeof FakeTransport>;

function setup(...script: Script) {
  const transport = new FakeTransport(...script);
  const client = createClient({ transport });
  return { transport, client, widgets: client.api(Widget) };
}

const stored = widget('w', 7);
const missing = errors.notFound({ group: 'things.orch.io', resource: 'widgets' }, 'w');

describe('reads', () => {
  test('get returns the object of the server itself, not a copy', async () => {
    const { widgets } = setup(answer(stored), Promise.resolve(answer(stored)));
    expect(await widgets.get('w')).toBe(stored);
    expect(await widgets.get('w')).toBe(stored);
  });

  test('get sends the given version', async () => {
    const { transport, widgets } = setup(answer(stored));
    await widgets.get('w', { resourceVersion: '0' });
    expect(transport.last.options).toEqual({ resourceVersion: '0' });
  });

  test('get rejects with the error of the transport', async () => {
    const { widgets } = setup(missing, Promise.reject(missing));
    await expect(widgets.get('w')).rejects.toBe(missing);
    await expect(widgets.get('w')).rejects.toBe(missing);
  });

  test('find returns undefined for an object that does not exist', async () => {
    const { widgets } = setup(answer(stored), missing, Promise.reject(missing));
    expect(await widgets.find('w')).toBe(stored);
    expect(await widgets.find('w')).toBeUndefined();
    expect(await widgets.find('w')).toBeUndefined();
  });

  test('find rejects when the kind is not served', async () => {
    const { widgets } = setup(
      errors.genericServerResponse('NotFound'),
      errors.forbidden({ group: '', resource: 'widgets' }, 'w', 'no'),
    );
    await expect(widgets.find('w')).rejects.toSatisfy((e) => StatusError.is(e, 'NotFound'));
    await expect(widgets.find('w')).rejects.toSatisfy((e) => StatusError.is(e, 'Forbidden'));
  });

  test('list sends selectors as text and all other options unchanged', async () => {
    const list = listOf(9, [stored]);
    const { transport, widgets } = setup(answer(list));
    const options = { limit: 5, continue: 'c', resourceVersion: '3', resourceVersionMatch: 'Exact' } as const;
    expect(await widgets.list({ ...options, labels: { app: 'web' }, fields: { 'metadata.name': 'w' } })).toBe(list);
    expect(transport.last.options).toEqual({
      ...options,
      labelSelector: 'app=web',
      fieldSelector: 'metadata.name=w',
    });
  });
});

describe('writes', () => {
  test('create adds kind and apiVersion to the body', async () => {
    const { transport, widgets } = setup(answer(stored));
    const input = { metadata: { name: 'w' }, spec: { parts: ['bolt'] } };
    expect(await widgets.create(input)).toBe(stored);
    expect(transport.last).toMatchObject({ verb: 'create', namespace: 'default' });
    expect(transport.last.name).toBeUndefined();
    expect(transport.last.body?.read().value).toEqual({ apiVersion: 'things.orch.io/v1', kind: 'Widget', ...input });
    expect(input).toEqual({ metadata: { name: 'w' }, spec: { parts: ['bolt'] } });
  });

  test('create leaves the validation of another kind to the server', async () => {
    const { transport, widgets } = setup(answer(stored), answer(stored), answer(stored));
    await widgets.create({ kind: 'Gadget', metadata: {}, spec: { parts: [] } });
    expect(transport.last.body?.read().value).toMatchObject({ kind: 'Gadget', apiVersion: 'things.orch.io/v1' });
    await widgets.create(JSON.parse('{ "kind": null, "metadata": {}, "spec": { "parts": [] } }'));
    expect(transport.last.body?.read().value).toMatchObject({ kind: 'Widget', apiVersion: 'things.orch.io/v1' });
    const whole = { apiVersion: 'v2', kind: 'Gadget', metadata: {}, spec: { parts: [] } };
    await widgets.create(whole);
    expect(transport.last.body?.read().value).toBe(whole);
  });

  test('update addresses the name of its object', async () => {
    const { transport, widgets } = setup(answer(stored), answer(widget('w', 8)));
    const read = await widgets.get('w');
    await widgets.update({ ...read, spec: { ...read.spec, size: 'l' } }, { fieldManager: 'me' });
    expect(transport.last).toMatchObject({ verb: 'update', name: 'w', options: { fieldManager: 'me' } });
    expect(transport.last.body?.read().value).toMatchObject({
      metadata: { resourceVersion: '7' },
      spec: { size: 'l' },
    });
  });

  test.each([
    ['merge', mergePatch<unknown>({ spec: { node: null } }), { spec: { node: null } }],
    ['strategic', strategicPatch<unknown>({ $patch: 'replace' }), { $patch: 'replace' }],
    ['json', jsonPatch([{ op: 'remove', path: '/spec/node' }]), [{ op: 'remove', path: '/spec/node' }]],
  ] as const)('a %s patch is sent with its type', async (patchType, patch, body) => {
    const { transport, widgets } = setup(answer(stored));
    expect(await widgets.patch('w', patch as ReturnType<typeof jsonPatch>)).toBe(stored);
    expect(transport.last).toMatchObject({ verb: 'patch', name: 'w', patchType });
    expect(transport.last.body?.read().value).toEqual(body);
  });
});

describe('deletes', () => {
  test('delete converts its options and returns the response of the server', async () => {
    const status = successStatus({ name: 'w' });
    const { transport, widgets } = setup(answer(status), answer(stored));
    const preconditions = { uid: 'u', resourceVersion: '7' };
    const options = { propagation: 'Foreground', gracePeriodSeconds: 0, preconditions, dryRun: true } as const;
    expect(await widgets.delete('w', options)).toBe(status);
    expect(transport.last).toMatchObject({ verb: 'delete', name: 'w' });
    expect(transport.last.body).toBeUndefined();
    expect(transport.last.options).toEqual({
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
      preconditions,
      dryRun: ['All'],
    });
    expect(await widgets.delete('w')).toBe(stored);
  });

  test('deleteCollection sends selectors', async () => {
    const { transport, widgets } = setup(answer(listOf(9, [stored])));
    await widgets.deleteCollection({ labels: 'app=web', propagation: 'Orphan', limit: 3 });
    expect(transport.last).toMatchObject({ verb: 'deletecollection', namespace: 'default' });
    expect(transport.last.options).toEqual({ labelSelector: 'app=web', propagationPolicy: 'Orphan', limit: 3 });
  });
});

describe('subresources', () => {
  test('status can be read, replaced, edited and patched', async () => {
    const { transport, widgets } = setup(
      answer(stored),
      answer(stored),
      answer(stored),
      answer(stored),
      answer(stored),
    );
    await widgets.status.get('w');
    await widgets.status.update('w', stored);
    await widgets.status.edit('w', (draft) => {
      draft.status = { ready: true };
    });
    await widgets.status.patch('w', mergePatch({ status: { ready: false } }));
    expect(transport.requests.map(({ verb, name, subresource }) => `${verb} ${name}/${subresource}`)).toEqual([
      'get w/status',
      'update w/status',
      'get w/status',
      'update w/status',
      'patch w/status',
    ]);
  });

  test('an update of a subresource gets the name of the object', async () => {
    const { transport, widgets } = setup(answer(stored));
    await widgets.subresource('finalize').update('w', { metadata: {}, spec: { parts: [] } });
    expect(transport.last).toMatchObject({ verb: 'update', name: 'w', subresource: 'finalize' });
    expect(transport.last.body?.read().value).toMatchObject({ metadata: { name: 'w' } });
  });

  test('a subresource that cannot be read is edited from the object itself', async () => {
    const { transport, widgets } = setup(answer(stored), answer(stored));
    await widgets.subresource('finalize').edit('w', (draft) => {
      draft.spec.parts = [];
      draft.spec.node = 'n1';
    });
    expect(transport.requests.map(({ verb, subresource }) => [verb, subresource])).toEqual([
      ['get', undefined],
      ['update', 'finalize'],
    ]);
  });

  test('a subresource that the kind does not declare is rejected', () => {
    const { client, widgets } = setup();
    const untyped = widgets as unknown as { subresource(name: string): unknown };
    expect(() => untyped.subresource('eviction')).toThrow(
      new TypeError('orchplane: Widget has no subresource "eviction"; it has: status, finalize'),
    );
    expect(() => untyped.subresource('toString')).toThrow(/no subresource "toString"/);
    const racks = client.api(Rack) as unknown as { readonly status: unknown };
    expect(() => racks.status).toThrow(/Rack has no subresource "status"; it has: none/);
  });
});

describe('an abort', () => {
  test('sends no request after an abort', async () => {
    const { transport, widgets } = setup();
    const reason = new Error('enough');
    await expect(widgets.get('w', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await expect(widgets.list({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(transport.requests).toEqual([]);
  });

  test('rejects a call with the reason of an abort during the request', async () => {
    const later = deferred<ApiResponse>();
    const { transport, widgets } = setup(later.promise);
    const stop = new AbortController();
    const create = widgets.create({ metadata: { name: 'w' }, spec: { parts: [] } }, { signal: stop.signal });
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(create).rejects.toBe(reason);
    expect(transport.last.signal).toBe(stop.signal);
    later.reject(new Error('ignored'));
  });

  test('ignores an abort after the response', async () => {
    const { widgets } = setup(Promise.resolve(answer(stored)));
    const stop = new AbortController();
    const got = widgets.get('w', { signal: stop.signal });
    expect(await got).toBe(stored);
    stop.abort();
    expect(await got).toBe(stored);
  });
});

describe('misuse that types would catch', () => {
  const { widgets, transport } = setup();
  const untyped = widgets as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;

  test.each([
    ['get', [''], 'orchplane: get of Widget needs the name of an object, got ""'],
    ['find', [undefined], 'orchplane: get of Widget needs the name of an object, got undefined'],
    ['delete', [{}], 'orchplane: delete of Widget needs the name of an object, got object'],
    ['patch', [null, {}], 'orchplane: patch of Widget needs the name of an object, got null'],
    ['patch', ['w', { spec: {} }], 'orchplane: patch takes the result of mergePatch, strategicPatch or jsonPatch'],
    ['patch', ['w'], 'orchplane: patch takes the result of mergePatch, strategicPatch or jsonPatch'],
    ['create', ['w'], 'orchplane: create of Widget needs an object, got "w"'],
    ['update', [{ metadata: {} }], 'orchplane: update of Widget needs the name of an object, got undefined'],
    ['update', [{}], 'orchplane: update of Widget needs the name of an object, got undefined'],
    ['waitFor', ['', () => true], 'orchplane: waitFor of Widget needs the name of an object, got ""'],
  ])('%s rejects the arguments %j', async (verb, args, message) => {
    // Outside of the expectation: nothing may be thrown synchronously.
    const promise = untyped[verb]?.apply(widgets, args);
    await expect(promise).rejects.toThrow(new TypeError(message));
    expect(transport.requests).toEqual([]);
  });
});
