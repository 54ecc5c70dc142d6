/** Message types of the group `apidiscovery`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const apidiscovery: GroupTypes = {
  name: 'apidiscovery',
  group: serviceGroup('apidiscovery'),
  versions: [
    {
      version: 'v2',
      kinds: 'APIGroupDiscovery+',
      types: `
APIGroupDiscovery metadata:ObjectMeta versions[]:APIVersionDiscovery
APIResourceDiscovery resource responseKind*:GroupVersionKind scope singularResource verbs[] shortNames[]
  categories[] subresources[]:APISubresourceDiscovery
APISubresourceDiscovery subresource responseKind*:GroupVersionKind acceptedTypes[]:GroupVersionKind verbs[]
APIVersionDiscovery version resources[]:APIResourceDiscovery freshness
      `,
    },
    {
      version: 'v2beta1',
      like: 'v2',
      kinds: 'APIGroupDiscovery+',
      types: ``,
    },
  ],
};
