/**
 * The types that objects of the group are made of, by the names of the API.
 */

export type { ValidationRule, ValidationRuleInput } from '../schema/json-schema.js';
export type {
  CustomResourceColumnDefinition,
  CustomResourceColumnDefinitionInput,
  CustomResourceConversion,
  CustomResourceConversionInput,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionConditionInput,
  CustomResourceSubresourceScale,
  CustomResourceSubresourceScaleInput,
  CustomResourceSubresources,
  CustomResourceSubresourcesInput,
  CustomResourceValidation,
  CustomResourceValidationInput,
  SelectableField,
  SelectableFieldInput,
  WebhookConversion,
  WebhookConversionInput,
} from './definition/schema.js';
