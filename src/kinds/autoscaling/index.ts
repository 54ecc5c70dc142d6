/**
 * The autoscaling group. Scale is not a resource: workloads have it as the `scale` subresource.
 */
import type { Kind } from '../kind.js';
import { HorizontalPodAutoscalerV1 } from './v1/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import { HorizontalPodAutoscaler } from './v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';

export { Scale } from './v1/scale.js';
export { HorizontalPodAutoscaler, HorizontalPodAutoscalerV1 };

/** The kinds of the group, in the order of discovery. */
export const autoscalingKinds: readonly Kind[] = [HorizontalPodAutoscaler, HorizontalPodAutoscalerV1];
