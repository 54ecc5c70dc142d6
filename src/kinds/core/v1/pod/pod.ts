/**
 * The Pod kind: containers that run together on one node. spec: Pod
 */

import type { InputBase, NamespacedObject } from '../../../../meta/object.js';
import { defineBuiltIn } from '../../../define-kind.js';
import { type PodBody, type PodBodyDraft, type PodBodyInput, podBody } from '../../../generated/core-v1.js';
import type { Kind } from '../../../kind.js';
import { defineAction } from '../../../subresource.js';
import { podConnectSubresources } from '../connect-subresources.js';
import { Binding, bindPod } from './binding.js';
import { podColumns, podRowConditions } from './columns.js';
import { Eviction, evictPod } from './eviction.js';
import { ephemeralContainersSubresource, resizeSubresource } from './spec-subresources.js';
import { podStatusSubresource } from './status-rules.js';
import { podStrategy } from './strategy.js';

export interface Pod extends NamespacedObject<'Pod'>, PodBody {}
export interface PodDraft extends NamespacedObject<'Pod'>, PodBodyDraft {}
export interface PodInput extends InputBase, PodBodyInput {}

export const Pod: Kind<
  Pod,
  PodInput,
  'Namespaced',
  'binding' | 'ephemeralcontainers' | 'eviction' | 'resize' | 'status',
  PodDraft
> = defineBuiltIn({
  apiVersion: 'v1',
  kind: 'Pod',
  scope: 'Namespaced',
  names: { shortNames: ['po'], categories: ['all'] },
  body: podBody,
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
