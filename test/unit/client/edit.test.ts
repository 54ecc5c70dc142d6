/** edit: when it writes, retries and fails. */
import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import { errors, StatusError } from '../../../src/meta/errors.js';
import { deepFreeze } from '../../../src/util/json.js';
import { answer, FakeTransport, Widget, widget } from './fakes.js';

const conflict = errors.conflict({ group: 'things.orch.io', resource: 'widgets' }, 'w', 'the object has been modified');
const live = (version: number, parts: string[] = []) =>
  answer(deepFreeze(widget('w', version, { spec: { size: 'm', parts } })));

function setup(...script: ConstructorParameters<typeof FakeTransport>) {
  const transport = new FakeTransport(...script);
  return { transport, widgets: createClient({ transport }).api(Widget) };
}

test('edit writes the changes of the recipe on top of the version that was read', async () => {
  const written = live(8);
  const { transport, widgets } = setup(live(7, ['nut']), written);
  const result = await widgets.edit('w', (draft) => {
    draft.spec.parts.push('bolt');
  });
  expect(written).toMatchObject({ object: result });
  expect(transport.last).toMatchObject({ verb: 'update', name: 'w' });
  expect(transport.last.body?.read().value).toMatchObject({
    metadata: { resourceVersion: '7' },
    spec: { parts: ['nut', 'bolt'] },
  });
});

test('edit sends nothing and returns the live object when the recipe changes nothing', async () => {
  const read = live(7);
  const { transport, widgets } = setup(read);
  const result = await widgets.edit('w', (draft) => {
    draft.spec.size = 'm';
  });
  expect(read).toMatchObject({ object: result });
  expect(transport.requests.map(({ verb }) => verb)).toEqual(['get']);
});

test('edit reads again and reruns the recipe after a Conflict', async () => {
  const { transport, widgets } = setup(
    live(7, ['a']),
    conflict,
    live(8, ['b']),
    Promise.reject(conflict),
    live(9, ['c']),
    live(10),
  );
  await widgets.edit('w', (draft) => {
    draft.spec.parts.push('bolt');
  });
  expect(transport.requests.map(({ verb }) => verb)).toEqual(['get', 'update', 'get', 'update', 'get', 'update']);
  expect(transport.last.body?.read().value).toMatchObject({ spec: { parts: ['c', 'bolt'] } });
});

test('edit fails with the last Conflict after ten attempts', async () => {
  const { transport, widgets } = setup(...Array.from({ length: 10 }, () => [live(7), conflict]).flat());
  const editing = widgets.edit('w', (draft) => {
    draft.spec.size = 's';
  });
  await expect(editing).rejects.toBe(conflict);
  expect(transport.requests).toHaveLength(20);
});

test('edit uses the given number of attempts', async () => {
  const { transport, widgets } = setup(live(7), conflict);
  const editing = widgets.edit(
    'w',
    (draft) => {
      draft.spec.size = 's';
    },
    { attempts: 1, fieldManager: 'me' },
  );
  await expect(editing).rejects.toBe(conflict);
  expect(transport.last.options).toEqual({ fieldManager: 'me' });
});

test('edit does not retry after any other failure', async () => {
  const { widgets } = setup(live(7), errors.notFound({ group: '', resource: 'widgets' }, 'w'));
  const editing = widgets.edit('w', (draft) => {
    draft.spec.size = 's';
  });
  await expect(editing).rejects.toSatisfy((e) => StatusError.is(e, 'NotFound'));
});

test('edit rejects with an error of the recipe', async () => {
  const { transport, widgets } = setup(live(7));
  const editing = widgets.edit('w', () => {
    throw new Error('not today');
  });
  await expect(editing).rejects.toThrow('not today');
  expect(transport.requests).toHaveLength(1);
});

test('edit ignores the result of the recipe', async () => {
  const { transport, widgets } = setup(live(7), live(8));
  const size = (draft: Widget) => (draft.spec.size = 'l');
  await widgets.edit('w', size);
  expect(transport.last.body?.read().value).toMatchObject({ kind: 'Widget', spec: { size: 'l' } });
});

test('edit rejects an asynchronous recipe', async () => {
  const { transport, widgets } = setup(live(7));
  // Its rejection is not one that nothing handles, which would end the process.
  const editing = widgets.edit('w', async () => {
    throw new Error('the recipe fails');
  });
  await expect(editing).rejects.toThrow(new TypeError('orchplane: the recipe of an edit must be synchronous'));
  expect(transport.requests).toHaveLength(1);
});

test('edit addresses the object it read even when the recipe renames it', async () => {
  const { transport, widgets } = setup(live(7), live(8));
  await widgets.edit('w', (draft) => {
    draft.metadata.name = 'other';
  });
  expect(transport.last.name).toBe('w');
});

test('edit rejects with the reason of an abort between attempts', async () => {
  const stop = new AbortController();
  const reason = new Error('enough');
  const { transport, widgets } = setup(live(7), () => {
    stop.abort(reason);
    return conflict;
  });
  const editing = widgets.edit(
    'w',
    (draft) => {
      draft.spec.size = 's';
    },
    { signal: stop.signal },
  );
  await expect(editing).rejects.toBe(reason);
  expect(transport.requests).toHaveLength(2);
});
