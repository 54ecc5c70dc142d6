/** Requests whose options or zero values were lost. */
import { expect, test } from 'vitest';
import { protobuf } from '../../src/codec/protobuf/index.js';
import { createHandler } from '../../src/http/index.js';
import { PriorityClass } from '../../src/kinds/index.js';
import { testCluster } from '../../src/testing/index.js';

const PROTOBUF = 'application/vnd.orch.protobuf';

test('a required field with the value 0 can be written back as protobuf', async () => {
  const cluster = testCluster();
  const classes = cluster.api(PriorityClass);
  await classes.create({ metadata: { name: 'zero' }, value: 0 });
  const handler = createHandler(cluster, { codecs: [protobuf] });
  const url = 'http://cluster/apis/scheduling.orch.io/v1/priorityclasses/zero';
  const read = await handler(new Request(url, { headers: { accept: PROTOBUF } }));
  const body = read.body as Uint8Array<ArrayBuffer>;
  const written = await handler(new Request(url, { method: 'PUT', headers: { 'content-type': PROTOBUF }, body }));
  expect(written.code).toBe(200);
  expect((await classes.get('zero')).value).toBe(0);
});

test('the query preconditions of a delete apply although it has a body', async () => {
  const cluster = testCluster();
  await cluster.api(PriorityClass).create({ metadata: { name: 'kept' }, value: 1 });
  const handler = createHandler(cluster, {});
  const url = 'http://cluster/apis/scheduling.orch.io/v1/priorityclasses/kept?uid=other';
  const headers = { 'content-type': 'application/json' };
  const refused = await handler(new Request(url, { method: 'DELETE', headers, body: '{}' }));
  expect(refused.code).toBe(409);
  expect((await cluster.api(PriorityClass).get('kept')).value).toBe(1);
});
