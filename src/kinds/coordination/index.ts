/**
 * The coordination group: leases and lease candidates.
 */
import type { Kind } from '../kind.js';
import { Lease } from './v1/lease.js';
import { LeaseCandidateV1alpha2 } from './v1alpha2/lease-candidate.js';
import { LeaseCandidate } from './v1beta1/lease-candidate.js';

export { LeaseCandidateV1alpha2, type LeaseCandidateV1alpha2Input } from './v1alpha2/lease-candidate.js';
export { Lease, LeaseCandidate };

/** The kinds of the group, in the order of discovery. */
export const coordinationKinds: readonly Kind[] = [Lease, LeaseCandidate, LeaseCandidateV1alpha2];
