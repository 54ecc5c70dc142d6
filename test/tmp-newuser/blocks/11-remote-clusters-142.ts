import assert from 'node:assert/strict';
import { createClient, createCluster, errors } from 'orchplane';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';
import { fakeClock } from 'orchplane/testing';

const clock = fakeClock();
const cluster = createCluster({ clock });
let refusals = 2;
cluster.use((request, next) => {
  if (refusals-- > 0) throw errors.tooManyRequests('slow down', 5);
  return next();
});

const fetch = createFetchHandler(cluster);
const patient = createClient({ transport: httpTransport({ baseUrl: 'http://cluster', fetch, clock }) });
const listing = patient.api(ConfigMap).list();
await clock.advance(10_000);
assert.deepEqual((await listing).items, []);
export {};
