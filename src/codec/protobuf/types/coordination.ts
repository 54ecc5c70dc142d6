/** Message types of the group `coordination`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const coordination: GroupTypes = {
  name: 'coordination',
  group: serviceGroup('coordination'),
  versions: [
    {
      version: 'v1',
      kinds: 'Lease+',
      types: `
Lease metadata:ObjectMeta spec:LeaseSpec
LeaseSpec holderIdentity* leaseDurationSeconds*:int32 acquireTime*:MicroTime renewTime*:MicroTime
  leaseTransitions*:int32 strategy* preferredHolder*
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'Lease+ LeaseCandidate+',
      types: `
LeaseCandidate metadata:ObjectMeta spec:LeaseCandidateSpec
LeaseCandidateSpec leaseName pingTime*:MicroTime renewTime*:MicroTime binaryVersion emulationVersion strategy
      `,
    },
    {
      version: 'v1alpha2',
      kinds: 'LeaseCandidate+',
      types: `
LeaseCandidate metadata:ObjectMeta spec:LeaseCandidateSpec
LeaseCandidateSpec leaseName pingTime*:MicroTime renewTime*:MicroTime binaryVersion emulationVersion strategy
      `,
    },
  ],
};
