/**
 * What an autoscaler looks at: sources of metrics with their targets, and what it found there.
 */
import * as z from 'zod';
import { enumString, int32, namedString, optional, pointer, quantity } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { labelSelector } from '../../../shared/types.js';

const crossVersionObjectReferenceShape = () => ({
  kind: z.string(),
  name: z.string(),
  apiVersion: optional(z.string()),
});
export interface CrossVersionObjectReference extends Output<typeof crossVersionObjectReferenceShape> {}
export interface CrossVersionObjectReferenceInput extends Input<typeof crossVersionObjectReferenceShape> {}
export const crossVersionObjectReference: Type<CrossVersionObjectReference, CrossVersionObjectReferenceInput> = type(
  'v2.CrossVersionObjectReference',
  crossVersionObjectReferenceShape,
);

const metricTargetShape = () => ({
  type: enumString<'Utilization' | 'Value' | 'AverageValue'>('v2.MetricTargetType'),
  value: pointer(quantity()),
  averageValue: pointer(quantity()),
  averageUtilization: pointer(int32()),
});
export interface MetricTarget extends Output<typeof metricTargetShape> {}
export interface MetricTargetInput extends Input<typeof metricTargetShape> {}
const metricTarget: Type<MetricTarget, MetricTargetInput> = type('v2.MetricTarget', metricTargetShape);

const metricIdentifierShape = () => ({
  name: z.string(),
  selector: pointer(labelSelector()),
});
export interface MetricIdentifier extends Output<typeof metricIdentifierShape> {}
export interface MetricIdentifierInput extends Input<typeof metricIdentifierShape> {}
const metricIdentifier: Type<MetricIdentifier, MetricIdentifierInput> = type(
  'v2.MetricIdentifier',
  metricIdentifierShape,
);

const objectMetricSourceShape = () => ({
  describedObject: crossVersionObjectReference(),
  target: metricTarget(),
  metric: metricIdentifier(),
});
export interface ObjectMetricSource extends Output<typeof objectMetricSourceShape> {}
export interface ObjectMetricSourceInput extends Input<typeof objectMetricSourceShape> {}
const objectMetricSource: Type<ObjectMetricSource, ObjectMetricSourceInput> = type(
  'v2.ObjectMetricSource',
  objectMetricSourceShape,
);

const podsMetricSourceShape = () => ({
  metric: metricIdentifier(),
  target: metricTarget(),
});
export interface PodsMetricSource extends Output<typeof podsMetricSourceShape> {}
export interface PodsMetricSourceInput extends Input<typeof podsMetricSourceShape> {}
const podsMetricSource: Type<PodsMetricSource, PodsMetricSourceInput> = type(
  'v2.PodsMetricSource',
  podsMetricSourceShape,
);

const resourceMetricSourceShape = () => ({
  name: namedString('v1.ResourceName'),
  target: metricTarget(),
});
export interface ResourceMetricSource extends Output<typeof resourceMetricSourceShape> {}
export interface ResourceMetricSourceInput extends Input<typeof resourceMetricSourceShape> {}
const resourceMetricSource: Type<ResourceMetricSource, ResourceMetricSourceInput> = type(
  'v2.ResourceMetricSource',
  resourceMetricSourceShape,
);

const containerResourceMetricSourceShape = () => ({
  name: namedString('v1.ResourceName'),
  target: metricTarget(),
  container: z.string(),
});
export interface ContainerResourceMetricSource extends Output<typeof containerResourceMetricSourceShape> {}
export interface ContainerResourceMetricSourceInput extends Input<typeof containerResourceMetricSourceShape> {}
const containerResourceMetricSource: Type<ContainerResourceMetricSource, ContainerResourceMetricSourceInput> = type(
  'v2.ContainerResourceMetricSource',
  containerResourceMetricSourceShape,
);

const externalMetricSourceShape = () => ({
  metric: metricIdentifier(),
  target: metricTarget(),
});
export interface ExternalMetricSource extends Output<typeof externalMetricSourceShape> {}
export interface ExternalMetricSourceInput extends Input<typeof externalMetricSourceShape> {}
const externalMetricSource: Type<ExternalMetricSource, ExternalMetricSourceInput> = type(
  'v2.ExternalMetricSource',
  externalMetricSourceShape,
);

export type MetricSourceType = 'Object' | 'Pods' | 'Resource' | 'ContainerResource' | 'External';

const metricSpecShape = () => ({
  type: enumString<MetricSourceType>('v2.MetricSourceType'),
  object: pointer(objectMetricSource()),
  pods: pointer(podsMetricSource()),
  resource: pointer(resourceMetricSource()),
  containerResource: pointer(containerResourceMetricSource()),
  external: pointer(externalMetricSource()),
});
export interface MetricSpec extends Output<typeof metricSpecShape> {}
export interface MetricSpecInput extends Input<typeof metricSpecShape> {}
export const metricSpec: Type<MetricSpec, MetricSpecInput> = type('v2.MetricSpec', metricSpecShape);

const metricValueStatusShape = () => ({
  value: pointer(quantity()),
  averageValue: pointer(quantity()),
  averageUtilization: pointer(int32()),
});
export interface MetricValueStatus extends Output<typeof metricValueStatusShape> {}
export interface MetricValueStatusInput extends Input<typeof metricValueStatusShape> {}
const metricValueStatus: Type<MetricValueStatus, MetricValueStatusInput> = type(
  'v2.MetricValueStatus',
  metricValueStatusShape,
);

const objectMetricStatusShape = () => ({
  metric: metricIdentifier(),
  current: metricValueStatus(),
  describedObject: crossVersionObjectReference(),
});
export interface ObjectMetricStatus extends Output<typeof objectMetricStatusShape> {}
export interface ObjectMetricStatusInput extends Input<typeof objectMetricStatusShape> {}
const objectMetricStatus: Type<ObjectMetricStatus, ObjectMetricStatusInput> = type(
  'v2.ObjectMetricStatus',
  objectMetricStatusShape,
);

const podsMetricStatusShape = () => ({
  metric: metricIdentifier(),
  current: metricValueStatus(),
});
export interface PodsMetricStatus extends Output<typeof podsMetricStatusShape> {}
export interface PodsMetricStatusInput extends Input<typeof podsMetricStatusShape> {}
const podsMetricStatus: Type<PodsMetricStatus, PodsMetricStatusInput> = type(
  'v2.PodsMetricStatus',
  podsMetricStatusShape,
);

const resourceMetricStatusShape = () => ({
  name: namedString('v1.ResourceName'),
  current: metricValueStatus(),
});
export interface ResourceMetricStatus extends Output<typeof resourceMetricStatusShape> {}
export interface ResourceMetricStatusInput extends Input<typeof resourceMetricStatusShape> {}
const resourceMetricStatus: Type<ResourceMetricStatus, ResourceMetricStatusInput> = type(
  'v2.ResourceMetricStatus',
  resourceMetricStatusShape,
);

const containerResourceMetricStatusShape = () => ({
  name: namedString('v1.ResourceName'),
  current: metricValueStatus(),
  container: z.string(),
});
export interface ContainerResourceMetricStatus extends Output<typeof containerResourceMetricStatusShape> {}
export interface ContainerResourceMetricStatusInput extends Input<typeof containerResourceMetricStatusShape> {}
const containerResourceMetricStatus: Type<ContainerResourceMetricStatus, ContainerResourceMetricStatusInput> = type(
  'v2.ContainerResourceMetricStatus',
  containerResourceMetricStatusShape,
);

const externalMetricStatusShape = () => ({
  metric: metricIdentifier(),
  current: metricValueStatus(),
});
export interface ExternalMetricStatus extends Output<typeof externalMetricStatusShape> {}
export interface ExternalMetricStatusInput extends Input<typeof externalMetricStatusShape> {}
const externalMetricStatus: Type<ExternalMetricStatus, ExternalMetricStatusInput> = type(
  'v2.ExternalMetricStatus',
  externalMetricStatusShape,
);

const metricStatusShape = () => ({
  type: enumString<MetricSourceType>('v2.MetricSourceType'),
  object: pointer(objectMetricStatus()),
  pods: pointer(podsMetricStatus()),
  resource: pointer(resourceMetricStatus()),
  containerResource: pointer(containerResourceMetricStatus()),
  external: pointer(externalMetricStatus()),
});
export interface MetricStatus extends Output<typeof metricStatusShape> {}
export interface MetricStatusInput extends Input<typeof metricStatusShape> {}
export const metricStatus: Type<MetricStatus, MetricStatusInput> = type('v2.MetricStatus', metricStatusShape);
