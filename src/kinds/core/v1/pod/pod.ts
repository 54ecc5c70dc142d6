/**
 * The Pod kind: containers that run together on one node. spec: Pod
 */

import { always } from '../../../../schema/hints.js';
import type { Input, Output } from '../../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../../define-kind.js';
import type { Kind } from '../../../kind.js';
import { podConnectSubresources } from '../connect-subresources.js';
import { podSpec } from '../pod-spec/pod-spec.js';
import { Binding, bindPod } from './binding.js';
import { podColumns, podRowConditions } from './columns.js';
import { Eviction, evictPod } from './eviction.js';
import { ephemeralContainersSubresource, resizeSubresource } from './spec-subresources.js';
import { podStatus } from './status.js';
import { podStatusSubresource } from './status-rules.js';
import { podStrategy } from './strategy.js';

const shape = () => ({ spec: always(podSpec()), status: always(podStatus()) });
export interface Pod extends ObjectBase, Output<typeof shape> {}
export interface PodInput extends InputBase, Input<typeof shape> {}

export const Pod: Kind<
  Pod,
  PodInput,
  'Namespaced',
  'binding' | 'ephemeralcontainers' | 'eviction' | 'resize' | 'status'
> = defineBuiltIn({
  apiVersion: 'v1',
  kind: 'Pod',
  scope: 'Namespaced',
  names: { shortNames: ['po'], categories: ['all'] },
  body: shape,
  strategy: podStrategy,
  columns: podColumns,
  rowConditions: podRowConditions,
  connectSubresources: podConnectSubresources,
  subresources: {
    binding: { type: 'action', verbs: ['create'], kind: Binding, run: bindPod },
    ephemeralcontainers: ephemeralContainersSubresource,
    eviction: { type: 'action', verbs: ['create'], kind: Eviction, alsoAccepts: ['policy/v1beta1'], run: evictPod },
    resize: resizeSubresource,
    status: podStatusSubresource,
  },
});
