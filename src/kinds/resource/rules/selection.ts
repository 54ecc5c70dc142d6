/**
 * Rules of what chooses and sets up devices: selectors, opaque parameters, taints, tolerations.
 */
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, invalid, notSupported, required, tooLong } from '../../../meta/field-error.js';
import { byteLength, labelValueProblems, qualifiedNameProblems } from '../../../meta/names.js';
import { isRecord, printJson } from '../../../util/json.js';
import { driverNameProblems } from '../../core/v1/pod-spec/local-source-rules.js';
import type { DeviceSelector, DeviceTaint, DeviceToleration, OpaqueDeviceConfiguration } from '../schema/selection.js';
import { listProblems } from './collections.js';
import { worded } from './names.js';

const MAX_SELECTORS = 32;
const MAX_EXPRESSION = 10 * 1024;

export function selectorsProblems(path: string, selectors: readonly DeviceSelector[] = []): FieldError[] {
  return listProblems(path, selectors, {
    max: MAX_SELECTORS,
    item: (at, { cel }) => {
      const field = childPath(at, 'cel');
      return cel === undefined ? [required(field)] : expressionProblems(childPath(field, 'expression'), cel.expression);
    },
  });
}

/** What a compiler says to a text with nothing in it. */
const NOTHING_TO_COMPILE =
  "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Expressions are not compiled here: the only syntax error that is noticed is that there is no expression. */
function expressionProblems(path: string, expression: string): FieldError[] {
  if (byteLength(expression) > MAX_EXPRESSION) return [tooLong(path, MAX_EXPRESSION)];
  return expression === '' ? [invalid(path, expression, NOTHING_TO_COMPILE)] : [];
}

/** The most of anything of this group in the form of a driver's own. */
const MAX_DOCUMENT = 10 * 1024;

/** What was there before may be longer: the limit came later. */
export interface DocumentOptions {
  readonly stored?: boolean;
}

export function configurationProblems(
  path: string,
  { opaque }: { readonly opaque?: OpaqueDeviceConfiguration },
  options: DocumentOptions = {},
): FieldError[] {
  const at = childPath(path, 'opaque');
  if (opaque === undefined) return [required(at)];
  return [
    ...driverNameProblems(childPath(at, 'driver'), opaque.driver),
    ...documentProblems(childPath(at, 'parameters'), opaque.parameters, options),
  ];
}

/** A JSON object of a driver's own kind. */
export function documentProblems(path: string, document: unknown, options: DocumentOptions = {}): FieldError[] {
  if (document === undefined || document === null) return [required(path)];
  if (options.stored !== true && byteLength(printJson(document)) > MAX_DOCUMENT) return [tooLong(path, MAX_DOCUMENT)];
  // The server says so of every document, whatever the field is called.
  return isRecord(document) ? [] : [invalid(path, '<value omitted>', 'parameters must be a valid JSON object')];
}

const EFFECTS = ['NoExecute', 'NoSchedule'];
const OPERATORS = ['Equal', 'Exists'];

export function deviceTaintProblems(path: string, taint: DeviceTaint): FieldError[] {
  const { key, value = '' } = taint;
  const effect: string = taint.effect;
  return [
    ...worded(childPath(path, 'key'), key, qualifiedNameProblems),
    ...worded(childPath(path, 'value'), value, labelValueProblems),
    ...(effect === '' ? [required(childPath(path, 'effect'))] : effectProblems(path, effect)),
  ];
}

export function deviceTolerationProblems(path: string, toleration: DeviceToleration): FieldError[] {
  const { key = '', value = '', effect = '' } = toleration;
  const operator: string = toleration.operator;
  const found = key === '' ? [] : worded(childPath(path, 'key'), key, qualifiedNameProblems);
  if (operator === 'Exists') {
    if (value !== '') found.push(invalid(childPath(path, 'value'), value, 'must be empty for operator `Exists`'));
  } else if (operator === 'Equal') {
    found.push(...worded(childPath(path, 'value'), value, labelValueProblems));
  } else {
    found.push(notSupported(childPath(path, 'operator'), operator, OPERATORS));
  }
  return effect === '' ? found : [...found, ...effectProblems(path, effect)];
}

function effectProblems(path: string, effect: string): FieldError[] {
  return EFFECTS.includes(effect) ? [] : [notSupported(childPath(path, 'effect'), effect, EFFECTS)];
}
