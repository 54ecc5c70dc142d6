/**
 * Validation of a container's environment variables.
 */
import { childPath, type FieldError, invalid, keyPath, required } from '../../../../meta/field-error.js';
import {
  configMapKeyProblems,
  dnsSubdomainProblems,
  envVarNameProblems,
  maskTrailingDash,
  relaxedEnvVarNameProblems,
} from '../../../../meta/names.js';
import type { FeatureGates } from '../../../feature-gates.js';
import type { EnvFromSource, EnvVar, EnvVarSource } from '../../../generated/core-v1.js';
import { fieldRefProblems, resourceFieldRefProblems } from './field-refs.js';

/** Fields that an environment variable can expose, in the order in which messages list them. */
const ENV_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Validates `env`. */
export function envProblems(path: string, env: readonly EnvVar[], features: FeatureGates): FieldError[] {
  return env.flatMap((variable, index) => {
    const at = keyPath(path, index);
    return [
      ...nameProblems(childPath(at, 'name'), variable.name, features),
      ...valueFromProblems(childPath(at, 'valueFrom'), variable),
    ];
  });
}

/** Validates `envFrom`. */
export function envFromProblems(path: string, all: readonly EnvFromSource[], features: FeatureGates): FieldError[] {
  return all.flatMap(({ prefix = '', configMapRef, secretRef }, index) => {
    const at = keyPath(path, index);
    const sources = [configMapRef, secretRef].filter((ref) => ref !== undefined).length;
    return [
      ...(prefix === '' ? [] : nameProblems(childPath(at, 'prefix'), prefix, features)),
      ...(configMapRef === undefined ? [] : sourceNameProblems(childPath(at, 'configMapRef.name'), configMapRef.name)),
      ...(secretRef === undefined ? [] : sourceNameProblems(childPath(at, 'secretRef.name'), secretRef.name)),
      // As in the reference server, reported at the list without the index.
      ...countProblems(path, sources, 'must specify one of: `configMapRef` or `secretRef`'),
    ];
  });
}

function nameProblems(path: string, name: string, features: FeatureGates): FieldError[] {
  if (name === '') return [required(path)];
  const relaxed = features.enabled('RelaxedEnvironmentVariableValidation');
  const problems = relaxed ? relaxedEnvVarNameProblems(name) : envVarNameProblems(name);
  return problems.map((problem) => invalid(path, name, problem));
}

function valueFromProblems(path: string, { value = '', valueFrom }: EnvVar): FieldError[] {
  if (valueFrom === undefined) return [];
  const sources = Object.values(valueFrom).filter((source) => source !== undefined).length;
  const problems = sourceProblems(path, valueFrom);
  const none = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
  if (value === '' || sources === 0) return [...problems, ...countProblems(path, sources, none)];
  return [...problems, invalid(path, '', 'may not be specified when `value` is not empty')];
}

function sourceProblems(path: string, source: EnvVarSource): FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  const inVolume = false;
  const keyed = { configMapKeyRef, secretKeyRef };
  return [
    ...(fieldRef === undefined ? [] : fieldRefProblems(childPath(path, 'fieldRef'), fieldRef, ENV_FIELDS)),
    ...(resourceFieldRef === undefined
      ? []
      : resourceFieldRefProblems(childPath(path, 'resourceFieldRef'), resourceFieldRef, { inVolume })),
    ...Object.entries(keyed).flatMap(([field, ref]) =>
      ref === undefined ? [] : keyRefProblems(childPath(path, field), ref),
    ),
  ];
}

function keyRefProblems(path: string, { name = '', key }: { name?: string; key: string }): FieldError[] {
  const [namePath, keyAt] = [childPath(path, 'name'), childPath(path, 'key')];
  const problems = dnsSubdomainProblems(name).map((problem) => invalid(namePath, name, problem));
  if (key === '') return [...problems, required(keyAt)];
  return [...problems, ...configMapKeyProblems(key).map((problem) => invalid(keyAt, key, problem))];
}

function sourceNameProblems(path: string, name = ''): FieldError[] {
  if (name === '') return [required(path)];
  // Validated like a name prefix: a trailing dash is valid.
  return dnsSubdomainProblems(maskTrailingDash(name)).map((problem) => invalid(path, name, problem));
}

function countProblems(path: string, sources: number, none: string): FieldError[] {
  if (sources === 0) return [invalid(path, '', none)];
  return sources === 1 ? [] : [invalid(path, '', 'may not have more than one field specified at a time')];
}
