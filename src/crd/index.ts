/**
 * The apiextensions group: the CustomResourceDefinition kind and its types.
 */
import type { Kind } from '../kinds/kind.js';
import { CustomResourceDefinition } from './definition/custom-resource-definition.js';

export type {
  JSONSchemaProps,
  ValidationRule,
  ValidationRuleInput,
} from '../schema/json-schema.js';
export { CustomResourceDefinition } from './definition/custom-resource-definition.js';

/** The kinds of the group. */
export const apiextensionsKinds: readonly Kind[] = [CustomResourceDefinition];
