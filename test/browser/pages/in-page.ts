/** Scenarios for a cluster in a page without a server. Nothing runs on import, so that the test can read the names. */
import { createClient, createCluster, mergePatch, StatusError } from 'orchplane';
import { cbor } from 'orchplane/codec/cbor';
import { protobuf } from 'orchplane/codec/protobuf';
import { type Codec, createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap, Deployment, Pod } from 'orchplane/kinds';
import { createResponder } from 'orchplane/service-worker';
import { equal, eventReader, present, type Scenarios } from './check.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const JSON_TYPE = { 'content-type': 'application/json' };

export const inPage: Scenarios = {
  'creates, changes, lists and deletes objects': async () => {
    const cluster = createCluster();
    const configMaps = cluster.api(ConfigMap);
    const made = await configMaps.create({ metadata: { name: 'web' }, data: { size: 'm' } });
    equal(made.metadata.uid.length, 36);
    await configMaps.edit('web', (draft) => {
      draft.data = { size: 'l' };
    });
    equal(
      (await configMaps.list()).items.map(({ data }) => data),
      [{ size: 'l' }],
    );
    await configMaps.delete('web');
    const gone = await configMaps.get('web').catch((error: unknown) => error);
    equal(StatusError.is(gone, 'NotFound'), true);
    await cluster.close();
  },

  'rejects an invalid object': async () => {
    const pods = createCluster().api(Pod);
    const refused = await pods.create({ metadata: { name: 'Web' }, spec: { containers: [] } }).catch((error) => error);
    equal(StatusError.is(refused, 'Invalid'), true);
  },

  'reports a conflict between two managers, and force resolves it': async () => {
    const cluster = createCluster();
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const spec = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template };
    await cluster
      .with({ fieldManager: 'ci' })
      .api(Deployment)
      .apply({ metadata: { name: 'web' }, spec });
    const other = cluster.with({ fieldManager: 'autoscaler' }).api(Deployment);
    const five = { metadata: { name: 'web' }, spec: { replicas: 5 } };
    const refused = await other.apply(five).catch((error: unknown) => error);
    equal(StatusError.is(refused, 'Conflict'), true);
    equal((await other.apply(five, { force: true })).spec.replicas, 5);
  },

  'sends the events of a watch': async () => {
    const configMaps = createCluster().api(ConfigMap);
    const watch = configMaps.watch();
    await configMaps.create({ metadata: { name: 'a' } });
    await configMaps.delete('a');
    const types: string[] = [];
    for await (const event of watch) {
      types.push(event.type);
      if (event.type === 'DELETED') break;
    }
    equal(types, ['ADDED', 'DELETED']);
  },

  'serves the client over HTTP without a network': async () => {
    const cluster = createCluster();
    const transport = httpTransport({ baseUrl: 'http://cluster.local', fetch: createFetchHandler(cluster) });
    const configMaps = createClient({ transport }).api(ConfigMap);
    const watch = configMaps.watch();
    const made = await configMaps.create({ metadata: { name: 'a' }, data: { size: 'm' } });
    equal(made, await cluster.api(ConfigMap).get('a'));
    const { value } = await watch.next();
    equal([value?.type, value?.object.metadata.resourceVersion], ['ADDED', made.metadata.resourceVersion]);
    watch.close();
    const patched = await configMaps.patch('a', mergePatch({ data: { size: 'l' } }));
    equal(patched.data, { size: 'l' });
    const missing = await configMaps.get('b').catch((error: unknown) => error);
    equal(StatusError.is(missing, 'NotFound'), true);
  },

  'streams events from a handler': async () => {
    const cluster = createCluster();
    const handler = createFetchHandler(cluster);
    const { body } = await handler(new Request(`http://cluster.local${CONFIG_MAPS}?watch=true`));
    const events = eventReader(present(body));
    const text = JSON.stringify({ metadata: { name: 'ä€😀' }, data: {} });
    const refused = await handler(post(text));
    equal(refused.status, 422);
    equal((await handler(post(JSON.stringify({ metadata: { name: 'a' }, data: { text: 'ä€😀' } })))).status, 201);
    const { type, object } = await events.next();
    equal([type, object.metadata.name], ['ADDED', 'a']);
    await events.cancel();
    await cluster.close();
  },

  'reads and writes protobuf': () => roundTrip(protobuf),

  'reads and writes CBOR': () => roundTrip(cbor),

  // Pages cannot set Accept-Encoding in a Request; a server in a page may receive it.
  'compresses a long response if the browser supports it': async () => {
    const cluster = createCluster();
    const data = { text: 'x'.repeat(200_000) };
    const made = await cluster.api(ConfigMap).create({ metadata: { name: 'long' }, data });
    const { headers, body } = await createFetchHandler(cluster)({
      method: 'GET',
      url: `http://cluster.local${CONFIG_MAPS}/${made.metadata.name}`,
      headers: new Map([['accept-encoding', 'gzip']]),
      body: null,
      signal: new AbortController().signal,
    } as unknown as Request);
    const can = typeof CompressionStream === 'function';
    equal(headers.get('Content-Encoding'), can ? 'gzip' : null);
    const plain = can ? (body as ReadableStream<BufferSource>).pipeThrough(new DecompressionStream('gzip')) : body;
    equal((await new Response(plain as BodyInit).json()).data, data);
  },

  'answers through a responder without a service worker': async () => {
    const cluster = createCluster();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const respond = createResponder(cluster, { base: '/cluster/' });
    const answerTo = (path: string): Promise<Response> => {
      const request = new Request(path);
      return respond(request) ?? fetch(request);
    };
    equal((await (await answerTo(`/cluster${CONFIG_MAPS}/a`)).json()).metadata.name, 'a');
    equal(await (await answerTo('/plain.txt')).text(), 'from the network');
  },
};

function post(body: BodyInit, headers: Record<string, string> = JSON_TYPE): Request {
  return new Request(`http://cluster.local${CONFIG_MAPS}`, { method: 'POST', headers, body });
}

async function roundTrip(codec: Codec): Promise<void> {
  const cluster = createCluster({ featureGates: { CBORServingAndStorage: true } });
  const { dialect } = cluster;
  const handler = createFetchHandler(cluster, { codecs: [protobuf, cbor] });
  const type = codec.mediaType(dialect);
  const data = { text: 'ä€😀' };
  const document = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data };
  const bytes = codec.encode(document, { dialect, pretty: false });
  const response = await handler(post(bytes as BodyInit, { 'content-type': type, accept: type }));
  equal([response.status, response.headers.get('content-type')], [201, type]);
  const made = codec.body(new Uint8Array(await response.arrayBuffer()), dialect).read().value as ConfigMap;
  const stored = await cluster.api(ConfigMap).get('a');
  equal([made.data, made.metadata.uid], [data, stored.metadata.uid]);
  equal(stored.data, data);
}
