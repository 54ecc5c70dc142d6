/** Scenarios for a page whose cluster is in a service worker. The second set runs after a reload. */
import { createClient, StatusError } from 'orchplane';
import { httpTransport } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';
import { equal, eventReader, present, type Scenarios } from './check.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

export const firstVisit: Scenarios = {
  'takes control of the page that registered the worker': async () => {
    equal(navigator.serviceWorker.controller, null);
    const controlled = new Promise((resolve) => {
      navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true });
    });
    await navigator.serviceWorker.register('/worker.js');
    await controlled;
    equal(new URL(present(navigator.serviceWorker.controller).scriptURL).pathname, '/worker.js');
  },

  'creates and lists objects with fetch': async () => {
    const made = await create('plain', 'm');
    equal([made.status, made.headers.get('content-type')], [201, 'application/json']);
    equal((await made.json()).metadata.namespace, 'default');
    const list = await (await fetch(CONFIG_MAPS)).json();
    equal(
      list.items.map(({ data }: ConfigMap) => data),
      [{ size: 'm' }],
    );
  },

  'serves version, health and metrics from the worker': async () => {
    equal(await (await fetch('/healthz')).text(), 'ok');
    equal((await (await fetch('/version')).json()).major, '1');
    equal((await (await fetch('/apis')).json()).kind, 'APIGroupList');
    equal((await fetch('/openapi/v3')).status, 200);
  },

  'leaves all other requests to the network': async () => {
    equal(await (await fetch('/plain.txt')).text(), 'from the network');
    equal(await (await fetch('/apiary.txt')).text(), 'from the network');
  },

  'streams a watch through the worker, and ends it when the page cancels': async () => {
    const { resourceVersion } = (await (await fetch(CONFIG_MAPS)).json()).metadata;
    const response = await fetch(`${CONFIG_MAPS}?watch=true&resourceVersion=${resourceVersion}`);
    const events = eventReader(present(response.body));
    await create('seen', 's');
    await fetch(`${CONFIG_MAPS}/seen`, { method: 'DELETE' });
    const [added, deleted] = [await events.next(), await events.next()];
    equal([added.type, added.object.metadata.name, deleted.type], ['ADDED', 'seen', 'DELETED']);
    equal(await openWatches(), 1);
    await events.cancel();
    await untilNoWatches();
  },

  'ends a watch when its signal aborts': async () => {
    const stop = new AbortController();
    const response = await fetch(`${CONFIG_MAPS}?watch=true`, { signal: stop.signal });
    const events = eventReader(present(response.body));
    equal((await events.next()).object.metadata.name, 'plain');
    stop.abort();
    const reason = await events.next().catch((error: Error) => error.name);
    equal(reason, 'AbortError');
    await untilNoWatches();
  },

  'serves the typed client': async () => {
    const configMaps = clientHere().api(ConfigMap);
    const informer = configMaps.informer();
    await informer.synced;
    const made = await configMaps.create({ metadata: { name: 'typed' }, data: { size: 'm' } });
    const seen = await configMaps.waitFor('typed', (found) => found !== undefined);
    equal(seen?.metadata.uid, made.metadata.uid);
    await configMaps.edit('typed', (draft) => {
      draft.data = { size: 'l' };
    });
    await configMaps.apply({ metadata: { name: 'typed' }, data: { color: 'red' } });
    equal((await configMaps.get('typed')).data, { color: 'red', size: 'l' });
    const missing = await configMaps.get('nope').catch((error: unknown) => error);
    equal(StatusError.is(missing, 'NotFound'), true);
    informer.close();
    await untilNoWatches();
  },

  'reports no errors in the worker': noFaults,
};

export const afterReload: Scenarios = {
  'controls the page from its first request after a reload': async () => {
    equal(new URL(present(navigator.serviceWorker.controller).scriptURL).pathname, '/worker.js');
  },

  'keeps the objects after a reload, and watches start with them': async () => {
    const { items } = await clientHere().api(ConfigMap).list();
    equal(
      items.map(({ metadata }) => metadata.name),
      ['plain', 'typed'],
    );
    const response = await fetch(`${CONFIG_MAPS}?watch=true`);
    const events = eventReader(present(response.body));
    equal((await events.next()).object.metadata.name, 'plain');
    await events.cancel();
    equal((await create('later', 'm')).status, 201);
  },

  'reports no errors in the worker': noFaults,
};

function clientHere() {
  return createClient({ transport: httpTransport({ baseUrl: location.origin }), fieldManager: 'page' });
}

function create(name: string, size: string): Promise<Response> {
  const body = JSON.stringify({ metadata: { name }, data: { size } });
  return fetch(CONFIG_MAPS, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

async function openWatches(): Promise<number> {
  const text = await (await fetch('/metrics')).text();
  return Number(/^apiserver_longrunning_requests\{.*\} (\d+)$/m.exec(text)?.[1]);
}

/** A cancelled stream reaches the worker asynchronously; each request gives it time. */
async function untilNoWatches(): Promise<void> {
  for (let attempt = 0; attempt < 1_000; attempt++) if ((await openWatches()) === 0) return;
  throw new Error(`there are still ${await openWatches()} watches in the worker`);
}

async function noFaults(): Promise<void> {
  equal(await (await fetch('/faults')).json(), []);
}
