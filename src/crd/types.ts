/**
 * Exports the types of the CRD API by their API names.
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
