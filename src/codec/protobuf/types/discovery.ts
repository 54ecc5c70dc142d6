/** Message types of the group `discovery`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const discovery: GroupTypes = {
  name: 'discovery',
  group: serviceGroup('discovery'),
  versions: [
    {
      version: 'v1',
      kinds: 'EndpointSlice+',
      types: `
Endpoint addresses[] conditions:EndpointConditions hostname* targetRef*:ObjectReference deprecatedTopology{}
  nodeName* zone* hints*:EndpointHints
EndpointConditions ready*:bool serving*:bool terminating*:bool
EndpointHints forZones[]:ForZone forNodes[]:ForNode
EndpointPort name* protocol* port*:int32 appProtocol*
EndpointSlice metadata:ObjectMeta endpoints[]:Endpoint ports[]:EndpointPort addressType
ForNode name
ForZone name
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'EndpointSlice+',
      types: `
Endpoint addresses[] conditions:EndpointConditions hostname* targetRef*:ObjectReference topology{} nodeName*
  hints*:EndpointHints
      `,
    },
  ],
};
