/**
 * The least that a server on Node does for the load of `server-cpu.mjs` with etcd: HTTPS, JSON, one transaction of etcd for each
 * write, one question for each batch of reads, one watch, and each event to all open watches. It validates nothing, has no
 * versions, owners or users, and stores the JSON. Its figures are a lower bound for the CPU time and memory of a server.
 *
 *   node test/bench/etcd-floor.mjs --etcd 127.0.0.1:2379 --port 6443 --cert FILE --key FILE
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { parseArgs } from 'node:util';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import protobuf from 'protobufjs/light.js';

const { values: given } = parseArgs({
  options: {
    etcd: { type: 'string', default: '127.0.0.1:2379' },
    port: { type: 'string', default: '6443' },
    cert: { type: 'string' },
    key: { type: 'string' },
  },
});
const PREFIX = '/orchplane-floor/';
const type = (id, name, rule) => ({ id, type: name, ...(rule === undefined ? {} : { rule }) });
const root = protobuf.Root.fromJSON({
  nested: {
    Header: { fields: { revision: type(3, 'int64') } },
    KeyValue: { fields: { key: type(1, 'bytes'), modRevision: type(3, 'int64'), value: type(5, 'bytes') } },
    Range: { fields: { key: type(1, 'bytes'), countOnly: type(9, 'bool') } },
    RangeResponse: { fields: { header: type(1, 'Header') } },
    Put: { fields: { key: type(1, 'bytes'), value: type(2, 'bytes') } },
    Delete: { fields: { key: type(1, 'bytes') } },
    Operation: { fields: { put: type(2, 'Put'), delete: type(3, 'Delete') } },
    Compare: { fields: { target: type(2, 'int32'), key: type(3, 'bytes'), modRevision: type(6, 'int64') } },
    Txn: { fields: { compare: type(1, 'Compare', 'repeated'), success: type(2, 'Operation', 'repeated') } },
    TxnResponse: { fields: { header: type(1, 'Header'), succeeded: type(2, 'bool') } },
    Create: { fields: { key: type(1, 'bytes'), rangeEnd: type(2, 'bytes') } },
    WatchRequest: { fields: { create: type(1, 'Create') } },
    Event: { fields: { type: type(1, 'int32'), kv: type(2, 'KeyValue') } },
    WatchResponse: { fields: { header: type(1, 'Header'), events: type(11, 'Event', 'repeated') } },
  },
});
const codec = (name) => {
  const message = root.lookupType(name);
  return { encode: (value) => message.encode(value).finish(), decode: (bytes) => message.decode(bytes) };
};
const [RANGE, RANGE_RESPONSE, TXN, TXN_RESPONSE, WATCH, WATCH_RESPONSE] = [
  'Range',
  'RangeResponse',
  'Txn',
  'TxnResponse',
  'WatchRequest',
  'WatchResponse',
].map(codec);
const client = new Client(given.etcd, credentials.createInsecure());
const metadata = new Metadata();

const channel = client.getChannel();

/** The channel's own call is cheaper than `client.makeUnaryRequest`. */
function unary(method, request, response, message) {
  return new Promise((resolve, reject) => {
    const call = channel.createCall(`/etcdserverpb.KV/${method}`, Infinity, null, null, null);
    let content;
    call.start(metadata, {
      onReceiveMetadata: () => undefined,
      onReceiveMessage: (bytes) => (content = bytes),
      onReceiveStatus: ({ code, details }) =>
        code === 0 ? resolve(response.decode(content)) : reject(new Error(details)),
    });
    call.sendMessageWithContext({}, request.encode(message));
    call.halfClose();
    call.startRead();
  });
}

/** The text and revision of each object by name. */
const objects = new Map();
/** Writes that wait for their event, by revision. */
const waiting = new Map();
const watches = new Set();
/** Events that no watch has got yet. */
let lines = [];
let revision = 0;

/** Writes events that arrive within five milliseconds together, as `orchplane serve` does for 50 watches. */
function deliver(line) {
  if (lines.push(line) > 1) return;
  setTimeout(() => {
    const chunk = Buffer.from(lines.join(''));
    lines = [];
    for (const watch of watches) watch.write(chunk);
  }, 5);
}

const stream = client.makeBidiStreamRequest('/etcdserverpb.Watch/Watch', WATCH.encode, WATCH_RESPONSE.decode, metadata);
stream.write({ create: { key: Buffer.from(PREFIX), rangeEnd: Buffer.from(`${PREFIX.slice(0, -1)}0`) } });
stream.on('data', ({ events }) => {
  for (const { type: kind, kv } of events) {
    revision = Number(kv.modRevision);
    const name = kv.key.toString('latin1').slice(PREFIX.length);
    const event = kind === 1 ? 'DELETED' : objects.has(name) ? 'MODIFIED' : 'ADDED';
    const text = kind === 1 ? objects.get(name)?.text : kv.value.toString();
    if (kind === 1) objects.delete(name);
    else objects.set(name, { text, revision });
    deliver(`{"type":"${event}","object":${text}}\n`);
    waiting.get(revision)?.();
    waiting.delete(revision);
  }
});

let asking;
let queued;
/** Concurrent reads share a question, as in the feed. */
function whenCurrent() {
  queued ??= (async () => {
    await asking;
    asking = queued;
    queued = undefined;
    await unary('Range', RANGE, RANGE_RESPONSE, { key: Buffer.from(`${PREFIX}barrier`), countOnly: true });
  })();
  return queued;
}

async function write(name, operation) {
  const key = Buffer.from(PREFIX + name);
  const compare = [{ target: 2, key, modRevision: objects.get(name)?.revision ?? 0 }];
  const { succeeded, header } = await unary('Txn', TXN, TXN_RESPONSE, { compare, success: [operation(key)] });
  if (!succeeded) throw new Error(`the race for ${name} is lost`);
  const written = Number(header.revision);
  if (written > revision) await new Promise((resolve) => waiting.set(written, resolve));
}

async function put(name, object) {
  const text = JSON.stringify(object);
  // A stored object also has the metadata and owners that a server adds, about 300 bytes.
  const value = Buffer.from(text.padEnd(text.length + 300));
  await write(name, (key) => ({ put: { key, value } }));
  return text;
}

async function answer(request, body) {
  const url = new URL(request.url, 'https://localhost');
  const name = url.pathname.split('/')[6];
  if (url.pathname === '/readyz') return 'ok';
  if (request.method === 'GET' && name === undefined) {
    await whenCurrent();
    return `{"items":[${Array.from(objects.values(), ({ text }) => text).join()}]}`;
  }
  if (request.method === 'GET') {
    await whenCurrent();
    return objects.get(name)?.text ?? '{}';
  }
  if (request.method === 'POST') {
    const object = JSON.parse(body);
    return put(object.metadata.name, object);
  }
  if (request.method === 'PATCH') return put(name, { ...JSON.parse(objects.get(name).text), ...JSON.parse(body) });
  await write(name, (key) => ({ delete: { key } }));
  return '{}';
}

createServer({ cert: readFileSync(given.cert), key: readFileSync(given.key) }, (request, response) => {
  if (request.url.includes('watch=')) {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    watches.add(response);
    response.on('close', () => watches.delete(response));
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    try {
      const text = await answer(request, Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.end(text);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
}).listen(Number(given.port), '127.0.0.1', () => console.log(`serves on ${given.port}`));
