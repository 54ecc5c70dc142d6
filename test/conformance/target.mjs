/**
 * The cluster that the recordings of a real API server are replayed against: a fetch handler over the built files.
 * The replayer is not part of this repository; it imports this module by its path.
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

/** The replayer asks for a default export. */
// A watch that a recording expects to be refused (authorization comes later) stays open, and an idle watch does not keep
// a process alive: without this the replayer would end in the middle. It leaves by process.exit when it is done.
setInterval(() => undefined, 60_000);

/**
 * Time for the recordings, which pause where the order of things depends on the second in which they happen. The
 * replayer cuts pauses to a fiftieth; this clock gives them back, and stands still otherwise, so that no step falls into
 * another second than it did.
 */
const PAUSES_CUT_TO = 0.02;
const SHORTEST_PAUSE_MS = 15;

function replayClock() {
  const start = Math.ceil(Date.now() / 1000) * 1000;
  let passed = 0;
  let lastAnswer = performance.now();
  return {
    clock: { ...systemClock, now: () => start + passed },
    asked() {
      const pause = performance.now() - lastAnswer;
      if (pause >= SHORTEST_PAUSE_MS) passed += pause / PAUSES_CUT_TO;
    },
    answered() {
      lastAnswer = performance.now();
    },
  };
}

/** The cluster as the recorded server was configured, and what to tell its clock. */
export function recordedCluster() {
  const { clock, asked, answered } = replayClock();
  const cluster = createCluster({
    clock,
    dialect: process.env.DIALECT === 'orch' ? 'orch' : 'kubernetes',
    runtimeConfig: 'api/all=true',
    featureGates: {
      AllBeta: true,
      ClusterTrustBundle: true,
      StorageVersionMigrator: true,
      DynamicResourceAllocation: true,
      CBORServingAndStorage: true,
    },
  });
  return { cluster, asked, answered };
}

export default async function makeTarget() {
  const { cluster, asked, answered } = process.env.CONTROLLERS === '1' ? await lifecycleCluster() : recordedCluster();
  const handle = createFetchHandler(cluster, {
    tokens,
    codecs: [protobuf, cbor],
    onError: (error) => console.error(error),
  });
  return async (request) => {
    await asked();
    // On its way through a socket a request gets the name of the program that sends it.
    if (!request.headers.has('user-agent')) request.headers.set('user-agent', 'node');
    try {
      return await handle(request);
    } finally {
      answered();
    }
  };
}
