/**
 * The apiextensions group: the CustomResourceDefinition kind and its types.
 */
import type { Kind } from '../kinds/kind.js';
import { CustomResourceDefinition } from './definition/custom-resource-definition.js';

export type { JSONSchemaProps } from '../schema/json-schema.js';
export * from './definition/custom-resource-definition.js';
export type {
  CustomResourceDefinitionNames,
  CustomResourceDefinitionNamesInput,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionSpecInput,
  CustomResourceDefinitionStatus,
  CustomResourceDefinitionStatusInput,
  CustomResourceDefinitionVersion,
  CustomResourceDefinitionVersionInput,
} from './definition/schema.js';
export type * from './types.js';

export const apiextensionsKinds: readonly Kind[] = [CustomResourceDefinition];
