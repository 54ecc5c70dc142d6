/**
 * Validates device selectors, opaque configurations, taints and tolerations.
 */

import { compileDeviceSelector, MAX_SELECTOR_COST } from '../../../cel/index.js';
import type { FieldError } from '../../../meta/field-error.js';
import {
  childPath,
  fieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../meta/field-error.js';
import { byteLength, labelValueProblems, qualifiedNameProblems } from '../../../meta/names.js';
import { append } from '../../../util/arrays.js';
import { isRecord, printJson } from '../../../util/json.js';
import { driverNameProblems } from '../../core/v1/pod-spec/local-source-rules.js';
import type {
  DeviceSelector,
  DeviceTaint,
  DeviceToleration,
  OpaqueDeviceConfiguration,
} from '../../generated/resource-v1beta2.js';
import { valueErrors } from '../../shared/field-rules.js';
import { listProblems } from './collections.js';
import { nameErrors } from './names.js';

const MAX_SELECTORS = 32;
const MAX_EXPRESSION = 10 * 1024;

/** `stored`: the value is stored already; it may use newer CEL features and exceed limits that were added later. */
export interface StoredOptions {
  readonly stored?: boolean;
}

/** Validates device selectors. */
export function selectorsProblems(
  path: string,
  selectors: readonly DeviceSelector[] = [],
  options: StoredOptions = {},
): FieldError[] {
  return listProblems(path, selectors, {
    max: MAX_SELECTORS,
    item: (at, { cel }) => {
      const field = childPath(at, 'cel');
      if (cel === undefined) return [required(field)];
      return expressionProblems(childPath(field, 'expression'), cel.expression, options);
    },
  });
}

function expressionProblems(path: string, expression: string, options: StoredOptions): FieldError[] {
  if (byteLength(expression) > MAX_EXPRESSION) return [tooLong(path, MAX_EXPRESSION)];
  const compiled = compileDeviceSelector(expression, options);
  if (compiled.problem === undefined) {
    return compiled.maxCost > MAX_SELECTOR_COST ? [forbidden(path, 'too complex, exceeds cost limit')] : [];
  }
  const { problem, internal } = compiled;
  return [internal ? fieldError('internal', path, { detail: problem }) : invalid(path, expression, problem)];
}

/** The maximum size of a driver's opaque data. */
const MAX_DOCUMENT = 10 * 1024;

/** Validates an opaque device configuration. */
export function configurationProblems(
  path: string,
  { opaque }: { readonly opaque?: OpaqueDeviceConfiguration },
  options: StoredOptions = {},
): FieldError[] {
  const at = childPath(path, 'opaque');
  if (opaque === undefined) return [required(at)];
  return [
    ...driverNameProblems(childPath(at, 'driver'), opaque.driver),
    ...documentProblems(childPath(at, 'parameters'), opaque.parameters, options),
  ];
}

/** Validates a driver's opaque JSON object. */
export function documentProblems(path: string, document: unknown, options: StoredOptions = {}): FieldError[] {
  if (document === undefined || document === null) return [required(path)];
  if (options.stored !== true && byteLength(printJson(document)) > MAX_DOCUMENT) return [tooLong(path, MAX_DOCUMENT)];
  // The reference server's message says "parameters" for every field.
  return isRecord(document) ? [] : [invalid(path, '<value omitted>', 'parameters must be a valid JSON object')];
}

const EFFECTS = ['NoExecute', 'NoSchedule'];
const OPERATORS = ['Equal', 'Exists'];

/** Validates a taint. */
export function deviceTaintProblems(path: string, taint: DeviceTaint): FieldError[] {
  const { key, value = '' } = taint;
  const effect: string = taint.effect;
  return [
    ...nameErrors(childPath(path, 'key'), key, qualifiedNameProblems),
    ...nameErrors(childPath(path, 'value'), value, labelValueProblems),
    ...(effect === '' ? [required(childPath(path, 'effect'))] : effectProblems(path, effect)),
  ];
}

/** Validates a toleration. */
export function deviceTolerationProblems(path: string, toleration: DeviceToleration): FieldError[] {
  const { key = '', value = '', effect = '' } = toleration;
  const operator: string = toleration.operator;
  const found = key === '' ? [] : nameErrors(childPath(path, 'key'), key, qualifiedNameProblems);
  if (operator === 'Exists') {
    if (value !== '') found.push(invalid(childPath(path, 'value'), value, 'must be empty for operator `Exists`'));
  } else if (operator === 'Equal') {
    append(found, nameErrors(childPath(path, 'value'), value, labelValueProblems));
  } else {
    found.push(notSupported(childPath(path, 'operator'), operator, OPERATORS));
  }
  return effect === '' ? found : [...found, ...effectProblems(path, effect)];
}

function effectProblems(path: string, effect: string): FieldError[] {
  return valueErrors(childPath(path, 'effect'), effect, EFFECTS);
}
