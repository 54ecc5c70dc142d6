/**
 * Versions that an older release serves and the reference release does not. A cluster of such a release has them in
 * addition to the current kinds. They are not exported by name; clients use them by apiVersion and kind
 * (`cluster.kind`, paths, manifests). PodSecurityPolicy is not included. spec: Removed API versions
 */
import type { Kind } from '../kind.js';
import { horizontalPodAutoscalerV2beta1 } from './autoscaling-v2beta1.js';
import { horizontalPodAutoscalerV2beta2 } from './autoscaling-v2beta2.js';
import { endpointSliceV1beta1 } from './discovery.js';
import { flowcontrolBetaKinds } from './flowcontrol.js';
import { podDisruptionBudgetV1beta1 } from './policy.js';
import { cronJobV1beta1, csiStorageCapacityV1beta1, eventV1beta1, runtimeClassV1beta1 } from './same-shape.js';

/** The kinds of removed versions. */
export const removedKinds: readonly Kind[] = [
  horizontalPodAutoscalerV2beta2,
  horizontalPodAutoscalerV2beta1,
  cronJobV1beta1,
  endpointSliceV1beta1,
  eventV1beta1,
  ...flowcontrolBetaKinds,
  runtimeClassV1beta1,
  podDisruptionBudgetV1beta1,
  csiStorageCapacityV1beta1,
];
