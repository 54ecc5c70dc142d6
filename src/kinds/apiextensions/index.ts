/**
 * The apiextensions group: kinds that users define.
 */
import type { Kind } from '../kind.js';
import { CustomResourceDefinition } from './v1/custom-resource-definition.js';

export type * from './types.js';
export * from './v1/custom-resource-definition.js';
export type {
  CustomResourceDefinitionNames,
  CustomResourceDefinitionNamesInput,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionSpecInput,
  CustomResourceDefinitionStatus,
  CustomResourceDefinitionStatusInput,
  CustomResourceDefinitionVersion,
  CustomResourceDefinitionVersionInput,
} from './v1/schema/definition.js';
export type { JSONSchemaProps } from './v1/schema/json-schema.js';

export const apiextensionsKinds: readonly Kind[] = [CustomResourceDefinition];
