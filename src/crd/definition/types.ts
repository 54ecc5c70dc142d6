/**
 * The API types of a CustomResourceDefinition, except for the JSON schemas inside it.
 */

import * as z from 'zod';
import { conditionParts } from '../../kinds/shared/types.js';
import { webhookClientShape, webhookServiceShape } from '../../kinds/shared/webhook-client.js';
import {
  always,
  applyMapList,
  defaultedPointer,
  enumString,
  int32,
  namedString,
  optional,
  pointer,
} from '../../schema/hints.js';
import { jsonSchemaProps } from '../../schema/json-schema.js';
import { type Input, type Output, type Type, type } from '../../schema/type.js';

const namesShape = () => ({
  plural: z.string(),
  singular: optional(z.string()),
  shortNames: optional(z.array(z.string())),
  kind: z.string(),
  listKind: optional(z.string()),
  categories: optional(z.array(z.string())),
});
export interface CustomResourceDefinitionNames extends Output<typeof namesShape> {}
export interface CustomResourceDefinitionNamesInput extends Input<typeof namesShape> {}
const names: Type<CustomResourceDefinitionNames, CustomResourceDefinitionNamesInput> = type(
  'CustomResourceDefinitionNames',
  namesShape,
);

const validationShape = () => ({ openAPIV3Schema: pointer(jsonSchemaProps()) });
export interface CustomResourceValidation extends Output<typeof validationShape> {}
export interface CustomResourceValidationInput extends Input<typeof validationShape> {}
const validation: Type<CustomResourceValidation, CustomResourceValidationInput> = type(
  'CustomResourceValidation',
  validationShape,
);

const scaleShape = () => ({
  specReplicasPath: z.string(),
  statusReplicasPath: z.string(),
  labelSelectorPath: pointer(z.string()),
});
export interface CustomResourceSubresourceScale extends Output<typeof scaleShape> {}
export interface CustomResourceSubresourceScaleInput extends Input<typeof scaleShape> {}
const scale: Type<CustomResourceSubresourceScale, CustomResourceSubresourceScaleInput> = type(
  'CustomResourceSubresourceScale',
  scaleShape,
);

const statusSubresource: Type<object> = type('CustomResourceSubresourceStatus', () => ({}));

const subresourcesShape = () => ({ status: pointer(statusSubresource()), scale: pointer(scale()) });
export interface CustomResourceSubresources extends Output<typeof subresourcesShape> {}
export interface CustomResourceSubresourcesInput extends Input<typeof subresourcesShape> {}
const subresources: Type<CustomResourceSubresources, CustomResourceSubresourcesInput> = type(
  'CustomResourceSubresources',
  subresourcesShape,
);

const columnShape = () => ({
  name: z.string(),
  type: z.string(),
  format: optional(z.string()),
  description: optional(z.string()),
  priority: optional(int32()),
  jsonPath: z.string(),
});
export interface CustomResourceColumnDefinition extends Output<typeof columnShape> {}
export interface CustomResourceColumnDefinitionInput extends Input<typeof columnShape> {}
const column: Type<CustomResourceColumnDefinition, CustomResourceColumnDefinitionInput> = type(
  'CustomResourceColumnDefinition',
  columnShape,
);

const selectableFieldShape = () => ({ jsonPath: z.string() });
export interface SelectableField extends Output<typeof selectableFieldShape> {}
export interface SelectableFieldInput extends Input<typeof selectableFieldShape> {}
const selectableField: Type<SelectableField, SelectableFieldInput> = type('SelectableField', selectableFieldShape);

const versionShape = () => ({
  name: z.string(),
  served: z.boolean(),
  storage: z.boolean(),
  deprecated: optional(z.boolean()),
  deprecationWarning: pointer(z.string()),
  schema: pointer(validation()),
  subresources: pointer(subresources()),
  additionalPrinterColumns: optional(z.array(column())),
  selectableFields: optional(z.array(selectableField())),
});
export interface CustomResourceDefinitionVersion extends Output<typeof versionShape> {}
export interface CustomResourceDefinitionVersionInput extends Input<typeof versionShape> {}
const version: Type<CustomResourceDefinitionVersion, CustomResourceDefinitionVersionInput> = type(
  'CustomResourceDefinitionVersion',
  versionShape,
);

interface ServiceReference extends Output<typeof webhookServiceShape> {}
interface ServiceReferenceInput extends Input<typeof webhookServiceShape> {}
const serviceReference: Type<ServiceReference, ServiceReferenceInput> = type('ServiceReference', webhookServiceShape);

const clientConfigShape = () => webhookClientShape(serviceReference());
interface WebhookClientConfig extends Output<typeof clientConfigShape> {}
interface WebhookClientConfigInput extends Input<typeof clientConfigShape> {}
const clientConfig: Type<WebhookClientConfig, WebhookClientConfigInput> = type(
  'WebhookClientConfig',
  clientConfigShape,
);

const webhookConversionShape = () => ({
  clientConfig: pointer(clientConfig()),
  conversionReviewVersions: z.array(z.string()),
});
export interface WebhookConversion extends Output<typeof webhookConversionShape> {}
export interface WebhookConversionInput extends Input<typeof webhookConversionShape> {}
const webhookConversion: Type<WebhookConversion, WebhookConversionInput> = type(
  'WebhookConversion',
  webhookConversionShape,
);

const conversionShape = () => ({
  strategy: enumString<'None' | 'Webhook'>('v1.ConversionStrategyType'),
  webhook: pointer(webhookConversion()),
});
export interface CustomResourceConversion extends Output<typeof conversionShape> {}
export interface CustomResourceConversionInput extends Input<typeof conversionShape> {}
const conversion: Type<CustomResourceConversion, CustomResourceConversionInput> = type(
  'CustomResourceConversion',
  conversionShape,
);

const specShape = () => ({
  group: z.string(),
  names: names(),
  scope: enumString<'Cluster' | 'Namespaced'>('v1.ResourceScope'),
  versions: z.array(version()),
  conversion: defaultedPointer(conversion(), { strategy: 'None' }),
  preserveUnknownFields: optional(z.boolean()),
});
export interface CustomResourceDefinitionSpec extends Output<typeof specShape> {}
export interface CustomResourceDefinitionSpecInput extends Input<typeof specShape> {}
export const definitionSpec: Type<CustomResourceDefinitionSpec, CustomResourceDefinitionSpecInput> = type(
  'CustomResourceDefinitionSpec',
  specShape,
);

const conditionShape = () => ({
  type: namedString('v1.CustomResourceDefinitionConditionType'),
  ...conditionParts(),
});
export interface CustomResourceDefinitionCondition extends Output<typeof conditionShape> {}
export interface CustomResourceDefinitionConditionInput extends Input<typeof conditionShape> {}
const condition: Type<CustomResourceDefinitionCondition, CustomResourceDefinitionConditionInput> = type(
  'CustomResourceDefinitionCondition',
  conditionShape,
);

const statusShape = () => ({
  // Always on the wire; `null` if there are none.
  conditions: always(applyMapList(condition(), 'type').nullable()),
  acceptedNames: always(names()),
  storedVersions: always(z.array(z.string()).nullable()),
});
export interface CustomResourceDefinitionStatus extends Output<typeof statusShape> {}
export interface CustomResourceDefinitionStatusInput extends Input<typeof statusShape> {}
export const definitionStatus: Type<CustomResourceDefinitionStatus, CustomResourceDefinitionStatusInput> = type(
  'CustomResourceDefinitionStatus',
  statusShape,
);
