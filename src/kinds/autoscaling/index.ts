/**
 * The autoscaling group. Scale is not a resource: workloads have it as the `scale` subresource.
 */
import type { Kind } from '../kind.js';
import { HorizontalPodAutoscalerV1 } from './v1/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import { HorizontalPodAutoscaler } from './v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';

export type {
  HorizontalPodAutoscalerV1Draft,
  HorizontalPodAutoscalerV1Input,
} from './v1/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
export { HorizontalPodAutoscalerV1 } from './v1/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
export type { ScaleDraft, ScaleInput } from './v1/scale.js';
export { Scale } from './v1/scale.js';
export type {
  HorizontalPodAutoscalerDraft,
  HorizontalPodAutoscalerInput,
} from './v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
export { HorizontalPodAutoscaler } from './v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';

/** The kinds of the group, in the order of discovery. */
export const autoscalingKinds: readonly Kind[] = [HorizontalPodAutoscaler, HorizontalPodAutoscalerV1];
