/**
 * The cluster that recordings are replayed against, as a fetch handler over the built files.
 *
 * The default export is also what other replayers import: without options it reads the environment variables `DIALECT` and
 * `CONTROLLERS`, and measures the pauses between requests.
 */
import process from 'node:process';
import { cbor } from '../../dist/codec/cbor/index.js';
import { protobuf } from '../../dist/codec/protobuf/index.js';
import { createFetchHandler } from '../../dist/http/index.js';
import { createCluster, systemClock } from '../../dist/index.js';
import { lifecycleCluster } from './lifecycle-target.mjs';

export const tokens = {
  'admin-token': { user: 'admin', uid: '1', groups: ['system:masters'] },
  'alice-token': { user: 'alice', uid: '2', groups: ['dev'] },
  'bob-token': { user: 'bob', uid: '3', groups: ['ops'] },
  'carol-token': { user: 'carol', uid: '4', groups: [] },
};

/** The share of recorded pauses that a replayer keeps, and the shortest time without a request that counts as a pause. */
const PAUSE_SHARE = 0.02;
const SHORTEST_PAUSE_MS = 15;

/**
 * A clock that moves only in pauses, so that every step falls into the same second as in the recording. It scales measured
 * pauses up to their recorded length.
 */
function replayClock(pauses) {
  const start = Math.ceil(Date.now() / 1000) * 1000;
  let elapsed = 0;
  let lastResponse = performance.now();
  return {
    clock: { ...systemClock, now: () => start + elapsed },
    pause(ms) {
      elapsed += ms;
    },
    beforeRequest() {
      const pause = performance.now() - lastResponse;
      if (pauses === 'measured' && pause >= SHORTEST_PAUSE_MS) elapsed += pause / PAUSE_SHARE;
    },
    afterRequest() {
      lastResponse = performance.now();
    },
  };
}

/** With the environment variable `ETCD` (`http://127.0.0.1:2379`), each cluster is in that etcd, under a prefix of its own. */
async function etcdOption() {
  const endpoint = process.env.ETCD;
  if (!endpoint) return {};
  const { etcdStorage } = await import('../../dist/etcd/index.js');
  return { storage: etcdStorage({ endpoints: [endpoint], prefix: `/replay-${crypto.randomUUID()}` }) };
}

/** A cluster with the configuration of the recorded API server, and the functions that move its clock. */
export async function recordedCluster({ dialect, pauses }) {
  const { clock, ...time } = replayClock(pauses);
  const cluster = createCluster({
    clock,
    dialect,
    runtimeConfig: 'api/all=true',
    featureGates: {
      AllBeta: true,
      ClusterTrustBundle: true,
      StorageVersionMigrator: true,
      DynamicResourceAllocation: true,
      CBORServingAndStorage: true,
    },
    ...(await etcdOption()),
  });
  return { cluster, ...time };
}

/**
 * Creates a cluster and returns its handler. With `pauses: 'explicit'` its clock moves only when the replayer calls the
 * handler's `pause(ms)`.
 */
export default async function makeTarget({
  dialect = process.env.DIALECT === 'orch' ? 'orch' : 'kubernetes',
  controllers = process.env.CONTROLLERS === '1',
  pauses = 'measured',
} = {}) {
  // An idle watch does not keep the process alive, and a replayer may wait for nothing else. It ends with process.exit.
  if (pauses === 'measured') setInterval(() => undefined, 60_000);
  const open = controllers ? lifecycleCluster : recordedCluster;
  const { cluster, pause, beforeRequest, afterRequest } = await open({ dialect, pauses });
  const handle = createFetchHandler(cluster, {
    tokens,
    codecs: [protobuf, cbor],
    onError: (error) => console.error(error),
  });
  const handleInTime = async (request) => {
    await beforeRequest();
    // The same header that fetch adds to a request over a socket.
    if (!request.headers.has('user-agent')) request.headers.set('user-agent', 'node');
    try {
      return await handle(request);
    } finally {
      afterRequest();
    }
  };
  return Object.assign(handleInTime, { pause, close: () => cluster.close() });
}
