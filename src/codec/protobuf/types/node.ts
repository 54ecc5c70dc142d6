/** Message types of the group `node`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const node: GroupTypes = {
  name: 'node',
  group: serviceGroup('node'),
  versions: [
    {
      version: 'v1',
      kinds: 'RuntimeClass+',
      types: `
Overhead podFixed{}:Quantity
RuntimeClass metadata:ObjectMeta handler overhead*:Overhead scheduling*:Scheduling
Scheduling nodeSelector{} tolerations[]:Toleration
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'RuntimeClass+',
      types: ``,
    },
    {
      version: 'v1alpha1',
      like: 'v1',
      kinds: 'RuntimeClass+',
      types: `
RuntimeClass metadata:ObjectMeta spec:RuntimeClassSpec
RuntimeClassSpec runtimeHandler overhead*:Overhead scheduling*:Scheduling
      `,
    },
  ],
};
