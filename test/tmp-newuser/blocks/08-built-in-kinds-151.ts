import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { LeaseCandidate, ResourceClaim } from 'orchplane/kinds';

const cluster = createCluster({
  runtimeConfig: 'resource.orch.io/v1beta2, coordination.orch.io/v1beta1/leasecandidates=true',
  featureGates: { DynamicResourceAllocation: true, CoordinatedLeaderElection: true },
});
await cluster.api(ResourceClaim).list();
await cluster.api(LeaseCandidate).list();

// Without them, the error says what to switch on.
await assert.rejects(createCluster().api(LeaseCandidate).list(), /is beta and off by default \(runtimeConfig: /);
export {};
