/**
 * Schemas of container environment variables.
 */
import * as z from 'zod';
import { optional, pointer } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { configMapKeySelector, objectFieldSelector, resourceFieldSelector, secretKeySelector } from './selectors.js';

const configMapEnvSourceShape = () => ({
  name: optional(z.string()),
  optional: pointer(z.boolean()),
});
export interface ConfigMapEnvSource extends Output<typeof configMapEnvSourceShape> {}
export interface ConfigMapEnvSourceInput extends Input<typeof configMapEnvSourceShape> {}
export const configMapEnvSource: Type<ConfigMapEnvSource, ConfigMapEnvSourceInput> = type(
  'ConfigMapEnvSource',
  configMapEnvSourceShape,
);

const secretEnvSourceShape = () => ({
  name: optional(z.string()),
  optional: pointer(z.boolean()),
});
export interface SecretEnvSource extends Output<typeof secretEnvSourceShape> {}
export interface SecretEnvSourceInput extends Input<typeof secretEnvSourceShape> {}
export const secretEnvSource: Type<SecretEnvSource, SecretEnvSourceInput> = type(
  'SecretEnvSource',
  secretEnvSourceShape,
);

const envFromSourceShape = () => ({
  prefix: optional(z.string()),
  configMapRef: pointer(configMapEnvSource()),
  secretRef: pointer(secretEnvSource()),
});
export interface EnvFromSource extends Output<typeof envFromSourceShape> {}
export interface EnvFromSourceInput extends Input<typeof envFromSourceShape> {}
export const envFromSource: Type<EnvFromSource, EnvFromSourceInput> = type('EnvFromSource', envFromSourceShape);

const envVarSourceShape = () => ({
  fieldRef: pointer(objectFieldSelector()),
  resourceFieldRef: pointer(resourceFieldSelector()),
  configMapKeyRef: pointer(configMapKeySelector()),
  secretKeyRef: pointer(secretKeySelector()),
});
export interface EnvVarSource extends Output<typeof envVarSourceShape> {}
export interface EnvVarSourceInput extends Input<typeof envVarSourceShape> {}
export const envVarSource: Type<EnvVarSource, EnvVarSourceInput> = type('EnvVarSource', envVarSourceShape);

const envVarShape = () => ({
  name: z.string(),
  value: optional(z.string()),
  valueFrom: pointer(envVarSource()),
});
export interface EnvVar extends Output<typeof envVarShape> {}
export interface EnvVarInput extends Input<typeof envVarShape> {}
export const envVar: Type<EnvVar, EnvVarInput> = type('EnvVar', envVarShape);
