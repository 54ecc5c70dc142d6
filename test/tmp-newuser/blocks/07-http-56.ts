import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { cbor } from 'orchplane/codec/cbor';
import { protobuf } from 'orchplane/codec/protobuf';
import { createFetchHandler } from 'orchplane/http';

const cluster = createCluster({ dialect: 'kubernetes', featureGates: { CBORServingAndStorage: true } });
const handler = createFetchHandler(cluster, { codecs: [protobuf, cbor] });
const ask = (accept: string, path = '/api/v1/namespaces/default') =>
  handler(new Request(`http://cluster${path}`, { headers: { accept } }));

const yaml = await ask('application/yaml');
assert.match(await yaml.text(), /^apiVersion: v1\nkind: Namespace\n/);

const binary = new Uint8Array(await (await ask('application/vnd.kubernetes.protobuf')).arrayBuffer());
assert.equal(String.fromCharCode(...binary.subarray(0, 4)), 'k8s\0');

const fallback = await ask('image/png, application/cbor;q=0.5, application/json;q=0.1');
assert.equal(fallback.headers.get('content-type'), 'application/cbor');
export {};
