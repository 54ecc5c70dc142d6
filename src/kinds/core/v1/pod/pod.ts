/**
 * The Pod kind: containers that run together on one node.
 */

import { defineBuiltIn } from '../../../define-kind.js';
import { type PodKind, type PodObject, podBase } from '../../../generated/core-v1.js';
import { defineAction } from '../../../subresource.js';
import { podConnectSubresources } from '../connect-subresources.js';
import { Binding, bindPod } from './binding.js';
import { podColumns, podRowConditions } from './columns.js';
import { Eviction, evictPod } from './eviction.js';
import { ephemeralContainersSubresource, resizeSubresource } from './spec-subresources.js';
import { podStatusSubresource } from './status-rules.js';
import { podStrategy } from './strategy.js';

export interface Pod extends PodObject {}

export const Pod: PodKind<Pod> = defineBuiltIn({
  ...podBase,
  names: { shortNames: ['po'], categories: ['all'] },
  strategy: podStrategy,
  columns: podColumns,
  rowConditions: podRowConditions,
  connectSubresources: podConnectSubresources,
  subresources: {
    binding: defineAction({ type: 'action', verbs: ['create'], kind: Binding, run: bindPod }),
    ephemeralcontainers: ephemeralContainersSubresource,
    eviction: defineAction({
      type: 'action',
      verbs: ['create'],
      kind: Eviction,
      alsoAccepts: ['policy/v1beta1'],
      run: evictPod,
    }),
    resize: resizeSubresource,
    status: podStatusSubresource,
  },
});
