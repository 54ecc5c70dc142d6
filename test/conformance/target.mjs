/**
 * The cluster that the recordings of a real API server are replayed against: a fetch handler over the built files.
 * The replayer is not part of this repository; it imports this module by its path.
 */
import process from 'node:process';
import { createFetchHandler } from '../../dist/http/index.js';
import { createCluster } from '../../dist/index.js';

const tokens = {
  'admin-token': { user: 'admin', uid: '1', groups: ['system:masters'] },
  'alice-token': { user: 'alice', uid: '2', groups: ['dev'] },
  'bob-token': { user: 'bob', uid: '3', groups: ['ops'] },
  'carol-token': { user: 'carol', uid: '4', groups: [] },
};

/** The replayer asks for a default export. */
// A watch that a recording expects to be refused (authorization comes later) stays open, and an idle watch does not keep
// a process alive: without this the replayer would end in the middle. It leaves by process.exit when it is done.
setInterval(() => undefined, 60_000);

export default async function makeTarget() {
  const cluster = createCluster({
    dialect: process.env.DIALECT === 'orch' ? 'orch' : 'kubernetes',
    // As the recorded server was configured.
    runtimeConfig: 'api/all=true',
    featureGates: {
      AllBeta: true,
      ClusterTrustBundle: true,
      StorageVersionMigrator: true,
      DynamicResourceAllocation: true,
    },
  });
  return createFetchHandler(cluster, { tokens, onError: (error) => console.error(error) });
}
