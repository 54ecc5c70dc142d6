/**
 * The shapes of metrics in v2beta1, where each source has its own names for its target and for what was found.
 */
import * as z from 'zod';
import { int32, namedString, optional, pointer, quantity, enumString } from '../../../schema/hints.js';
import { type Type, type } from '../../../schema/type.js';
import { labelSelector } from '../../shared/types.js';

export const reference: Type<unknown> = type('v2beta1.CrossVersionObjectReference', () => ({
  kind: z.string(),
  name: z.string(),
  apiVersion: optional(z.string()),
}));

const resourceName = () => namedString('v1.ResourceName');

const objectSource: Type<unknown> = type('v2beta1.ObjectMetricSource', () => ({
  target: reference(),
  metricName: z.string(),
  targetValue: quantity(),
  selector: pointer(labelSelector()),
  averageValue: pointer(quantity()),
}));

const podsSource: Type<unknown> = type('v2beta1.PodsMetricSource', () => ({
  metricName: z.string(),
  targetAverageValue: quantity(),
  selector: pointer(labelSelector()),
}));

const resourceSourceShape = () => ({
  name: resourceName(),
  targetAverageUtilization: pointer(int32()),
  targetAverageValue: pointer(quantity()),
});
const resourceSource: Type<unknown> = type('v2beta1.ResourceMetricSource', resourceSourceShape);
const containerSource: Type<unknown> = type('v2beta1.ContainerResourceMetricSource', () => ({
  ...resourceSourceShape(),
  container: z.string(),
}));

const externalSource: Type<unknown> = type('v2beta1.ExternalMetricSource', () => ({
  metricName: z.string(),
  metricSelector: pointer(labelSelector()),
  targetValue: pointer(quantity()),
  targetAverageValue: pointer(quantity()),
}));

export const metricSpecV2beta1: Type<unknown> = type('v2beta1.MetricSpec', () => ({
  type: enumString('v2beta1.MetricSourceType'),
  object: pointer(objectSource()),
  pods: pointer(podsSource()),
  resource: pointer(resourceSource()),
  containerResource: pointer(containerSource()),
  external: pointer(externalSource()),
}));

const objectStatus: Type<unknown> = type('v2beta1.ObjectMetricStatus', () => ({
  target: reference(),
  metricName: z.string(),
  currentValue: quantity(),
  selector: pointer(labelSelector()),
  averageValue: pointer(quantity()),
}));

const podsStatus: Type<unknown> = type('v2beta1.PodsMetricStatus', () => ({
  metricName: z.string(),
  currentAverageValue: quantity(),
  selector: pointer(labelSelector()),
}));

const resourceStatusShape = () => ({
  name: resourceName(),
  currentAverageUtilization: pointer(int32()),
  currentAverageValue: quantity(),
});
const resourceStatus: Type<unknown> = type('v2beta1.ResourceMetricStatus', resourceStatusShape);
const containerStatus: Type<unknown> = type('v2beta1.ContainerResourceMetricStatus', () => ({
  ...resourceStatusShape(),
  container: z.string(),
}));

const externalStatus: Type<unknown> = type('v2beta1.ExternalMetricStatus', () => ({
  metricName: z.string(),
  metricSelector: pointer(labelSelector()),
  currentValue: quantity(),
  currentAverageValue: pointer(quantity()),
}));

export const metricStatusV2beta1: Type<unknown> = type('v2beta1.MetricStatus', () => ({
  type: enumString('v2beta1.MetricSourceType'),
  object: pointer(objectStatus()),
  pods: pointer(podsStatus()),
  resource: pointer(resourceStatus()),
  containerResource: pointer(containerStatus()),
  external: pointer(externalStatus()),
}));
