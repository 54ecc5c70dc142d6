/** Message types of the group `scheduling`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const scheduling: GroupTypes = {
  name: 'scheduling',
  group: serviceGroup('scheduling'),
  versions: [
    {
      version: 'v1',
      kinds: 'PriorityClass+',
      types: `
PriorityClass metadata:ObjectMeta value:int32 globalDefault:bool description preemptionPolicy*
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'PriorityClass+',
      types: ``,
    },
    {
      version: 'v1alpha1',
      like: 'v1',
      kinds: 'PriorityClass+',
      types: ``,
    },
  ],
};
