/** What the types of this package are for; see `meta.ts` for the notation. */
export const coordinationDescriptions = `
Lease Somebody's hold on something, for a while.
LeaseSpec Who holds it and for how long.
 holderIdentity Who holds it.
 leaseDurationSeconds How long others wait after the last renewal.
 acquireTime When it was taken.
 renewTime When it was last renewed.
 leaseTransitions How often it changed hands.
 strategy How the holder is chosen.
 preferredHolder Who should take it next.
LeaseCandidate Somebody who could hold a lease.
LeaseCandidateSpec What the candidate can do.
 leaseName The lease.
 pingTime When the candidate was last asked.
 renewTime When it last answered.
 binaryVersion Its version.
 emulationVersion The version that it behaves as.
 strategy How the holder is chosen.
`;
