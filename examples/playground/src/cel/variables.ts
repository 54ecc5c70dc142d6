/**
 * Reads the variables of an expression from YAML.
 */
import { yamlBody } from '../../../../src/codec/yaml.js';

export class VariablesError extends Error {
  override readonly name = 'VariablesError';
}

/** Throws a VariablesError with the position at which the text is invalid. */
export function readVariables(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = yamlBody(text).read().value ?? {};
  } catch (error) {
    throw new VariablesError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new VariablesError('the variables must be a map: each key is the name of a variable');
  }
  const wrong = Object.keys(value).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (wrong !== undefined) throw new VariablesError(`"${wrong}" cannot be the name of a variable`);
  return value as Readonly<Record<string, unknown>>;
}
