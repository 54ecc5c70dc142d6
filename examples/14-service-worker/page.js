/**
 * The page: it shows the objects of an informer. Changes go to the worker, and reach every tab as events.
 */
import { createClient, StatusError } from 'orchplane/core';
import { httpTransport } from 'orchplane/http';
import { Note } from './note.js';

await underWorker('/worker.js');

const client = createClient({ transport: httpTransport({ baseUrl: '/cluster' }), fieldManager: 'page' });
const notes = client.api(Note);
const informer = notes.informer();
await informer.synced;
informer.subscribe(show);
show();

const form = document.querySelector('form');
const refusal = document.querySelector('#refusal');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const text = new FormData(form).get('text');
  try {
    await notes.create({ metadata: { generateName: 'note-' }, spec: { text } });
    form.reset();
    refusal.textContent = '';
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    refusal.textContent = error.message;
  }
});

function show() {
  const items = informer.snapshot().map((note) => {
    const item = document.createElement('li');
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.checked = note.spec.done;
    box.addEventListener('change', () =>
      notes.edit(note.metadata.name, (draft) => {
        draft.spec.done = box.checked;
      }),
    );
    const label = document.createElement('label');
    label.append(box, ` ${note.spec.text}`);
    const remove = document.createElement('button');
    remove.textContent = 'delete';
    remove.addEventListener('click', () => notes.delete(note.metadata.name));
    item.append(label, ' ', remove);
    return item;
  });
  document.querySelector('ul').replaceChildren(...items);
}

/** Resolves when the requests of this page go through the worker. */
async function underWorker(script) {
  const { serviceWorker } = navigator;
  const taken = new Promise((resolve) => {
    serviceWorker.addEventListener('controllerchange', resolve, { once: true });
  });
  const { active } = await serviceWorker.register(script);
  // On the first visit there is no worker yet; wait until it takes over.
  if (serviceWorker.controller === null && active === null) await taken;
  // After a hard reload the page has no worker.
  if (serviceWorker.controller === null) throw new Error('load this page again, without Shift');
}
