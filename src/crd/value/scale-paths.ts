/**
 * Validates the values at the scale paths: the replicas must be valid amounts, and the selector must be a string.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid } from '../../meta/field-error.js';
import { goType, printGoValue } from '../../text/go/go-value.js';
import { isRecord } from '../../util/json.js';
import { jsonKind } from './json-kind.js';

/** Paths as written in a CRD: `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** Validates the replicas in the spec. */
export function scaleSpecErrors(paths: ScalePaths, object: unknown): FieldError[] {
  return replicasErrors(paths.specReplicasPath, object);
}

/** Validates the replicas in the status and the selector. */
export function scaleStatusErrors(paths: ScalePaths, object: unknown): FieldError[] {
  const { statusReplicasPath, labelSelectorPath } = paths;
  const found = replicasErrors(statusReplicasPath, object);
  if (labelSelectorPath === undefined) return found;
  const selector = lookUp(labelSelectorPath, object);
  if (selector === undefined || typeof selector.value === 'string') return found;
  const detail = selector.problem ?? typeProblem(labelSelectorPath, selector.value, 'string');
  return [...found, invalid(labelSelectorPath, '', detail)];
}

const MAX_REPLICAS = 2_147_483_647;

function replicasErrors(path: string, object: unknown): FieldError[] {
  const replicas = lookUp(path, object);
  if (replicas === undefined) return [];
  const { value, problem } = replicas;
  if (problem !== undefined) return [invalid(path, 0, problem)];
  if (jsonKind(value) !== 'integer') return [invalid(path, 0, typeProblem(path, value, 'int64'))];
  const count = value as number | bigint;
  if (count < 0) return [invalid(path, count, 'should be a non-negative integer')];
  return count > MAX_REPLICAS ? [invalid(path, count, `should be less than or equal to ${MAX_REPLICAS}`)] : [];
}

interface Found {
  readonly value?: unknown;
  /** The reason why the path cannot be followed: a value on it is not an object. */
  readonly problem?: string;
}

function lookUp(path: string, object: unknown): Found | undefined {
  const steps = stepsOf(path);
  let value = object;
  for (const [index, step] of steps.entries()) {
    if (value === null) return undefined;
    if (!isRecord(value)) {
      return { problem: typeProblem(steps.slice(0, index + 1).join('.'), value, 'map[string]interface{}') };
    }
    if (!Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return { value };
}

function stepsOf(path: string): string[] {
  return path.replace(/^\./, '').split('.');
}

function typeProblem(path: string, value: unknown, wanted: string): string {
  const type = value === null ? '<nil>' : goType(value);
  return `.${stepsOf(path).join('.')} accessor error: ${printGoValue(value)} is of the type ${type}, expected ${wanted}`;
}
