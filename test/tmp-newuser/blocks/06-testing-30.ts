import assert from 'node:assert/strict';
import { StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

const cluster = testCluster();
const configMaps = cluster.api(ConfigMap);
const waiting = assert.rejects(
  configMaps.waitFor('web', (web) => web !== undefined, { timeoutMs: 60_000 }),
  (error) => StatusError.is(error, 'Timeout'),
);
await cluster.clock.advance(60_000); // at once
await waiting;
export {};
