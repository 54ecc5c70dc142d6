/**
 * The shape of a HorizontalPodAutoscaler in v1, which knows one metric: the use of CPU.
 */
import * as z from 'zod';
import { always, defaultedPointer, int32, int64, optional, pointer, time } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';

const referenceShape = () => ({
  kind: z.string(),
  name: z.string(),
  apiVersion: optional(z.string()),
});
interface Reference extends Output<typeof referenceShape> {}
interface ReferenceInput extends Input<typeof referenceShape> {}
const reference: Type<Reference, ReferenceInput> = type('CrossVersionObjectReference', referenceShape, {
  atomic: true,
});

const specShape = () => ({
  scaleTargetRef: reference(),
  minReplicas: defaultedPointer(int32(), 1),
  maxReplicas: int32(),
  targetCPUUtilizationPercentage: pointer(int32()),
});
export interface AutoscalerSpecV1 extends Output<typeof specShape> {}
export interface AutoscalerSpecV1Input extends Input<typeof specShape> {}
const spec: Type<AutoscalerSpecV1, AutoscalerSpecV1Input> = type('HorizontalPodAutoscalerSpec', specShape);

const statusShape = () => ({
  observedGeneration: pointer(int64()),
  lastScaleTime: pointer(time()),
  currentReplicas: int32(),
  desiredReplicas: int32(),
  currentCPUUtilizationPercentage: pointer(int32()),
});
export interface AutoscalerStatusV1 extends Output<typeof statusShape> {}
export interface AutoscalerStatusV1Input extends Input<typeof statusShape> {}
const status: Type<AutoscalerStatusV1, AutoscalerStatusV1Input> = type('HorizontalPodAutoscalerStatus', statusShape);

export const autoscalerV1Shape = () => ({ spec: always(spec()), status: always(status()) });
