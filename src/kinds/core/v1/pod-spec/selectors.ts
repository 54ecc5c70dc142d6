/**
 * Schemas of selectors for pod fields, container resources, and keys of ConfigMaps and Secrets.
 */
import * as z from 'zod';
import { always, defaulted, int32, optional, pointer, quantity } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';

const keyToPathShape = () => ({
  key: z.string(),
  path: z.string(),
  mode: pointer(int32()),
});
export interface KeyToPath extends Output<typeof keyToPathShape> {}
export interface KeyToPathInput extends Input<typeof keyToPathShape> {}
export const keyToPath: Type<KeyToPath, KeyToPathInput> = type('KeyToPath', keyToPathShape);

const objectFieldSelectorShape = () => ({
  apiVersion: defaulted(z.string(), 'v1'),
  fieldPath: z.string(),
});
export interface ObjectFieldSelector extends Output<typeof objectFieldSelectorShape> {}
export interface ObjectFieldSelectorInput extends Input<typeof objectFieldSelectorShape> {}
export const objectFieldSelector: Type<ObjectFieldSelector, ObjectFieldSelectorInput> = type(
  'ObjectFieldSelector',
  objectFieldSelectorShape,
  { atomic: true },
);

const resourceFieldSelectorShape = () => ({
  containerName: optional(z.string()),
  resource: z.string(),
  divisor: always(quantity()),
});
export interface ResourceFieldSelector extends Output<typeof resourceFieldSelectorShape> {}
export interface ResourceFieldSelectorInput extends Input<typeof resourceFieldSelectorShape> {}
export const resourceFieldSelector: Type<ResourceFieldSelector, ResourceFieldSelectorInput> = type(
  'ResourceFieldSelector',
  resourceFieldSelectorShape,
  { atomic: true },
);

const configMapKeySelectorShape = () => ({
  name: optional(z.string()),
  key: z.string(),
  optional: pointer(z.boolean()),
});
export interface ConfigMapKeySelector extends Output<typeof configMapKeySelectorShape> {}
export interface ConfigMapKeySelectorInput extends Input<typeof configMapKeySelectorShape> {}
export const configMapKeySelector: Type<ConfigMapKeySelector, ConfigMapKeySelectorInput> = type(
  'ConfigMapKeySelector',
  configMapKeySelectorShape,
  { atomic: true },
);

const secretKeySelectorShape = () => ({
  name: optional(z.string()),
  key: z.string(),
  optional: pointer(z.boolean()),
});
export interface SecretKeySelector extends Output<typeof secretKeySelectorShape> {}
export interface SecretKeySelectorInput extends Input<typeof secretKeySelectorShape> {}
export const secretKeySelector: Type<SecretKeySelector, SecretKeySelectorInput> = type(
  'SecretKeySelector',
  secretKeySelectorShape,
  { atomic: true },
);
