/**
 * Device selectors from text: refused when a class or a claim is written, planned when devices are looked for.
 */

import { describeType } from '../check/format.js';
import { estimateCost } from '../cost/estimate.js';
import type { Program } from '../engine.js';
import { compile, plan } from '../index.js';
import { CelError } from '../values.js';
import { DEVICE_SIZES, deviceEnvironment } from './environment.js';

/** The most that a selector may cost, by estimate when it is written and in truth when it runs. */
export const MAX_SELECTOR_COST = 1_000_000;

export type CompiledSelector =
  | {
      readonly program: Program;
      /** The most that it may cost. */
      readonly maxCost: number;
      readonly problem?: undefined;
    }
  /** What is wrong, in words for whoever wrote it; `internal` when it was found too late to be put down to the text. */
  | { readonly problem: string; readonly internal: boolean };

/**
 * A selector that costs too much is no mistake here; whoever accepts it compares `maxCost`.
 *
 * @example
 * compileDeviceSelector('device.driver == "gpu.example.com"').problem // undefined
 * compileDeviceSelector('1 + 1').problem // 'must evaluate to bool or the unknown type, not int'
 */
export function compileDeviceSelector(text: string, options: { readonly stored?: boolean } = {}): CompiledSelector {
  const environment = deviceEnvironment(options);
  const compiled = compile(text, environment);
  if (compiled.checked === undefined) return { problem: `compilation failed: ${compiled.text}`, internal: false };
  const { checked } = compiled;
  const { kind } = checked.resultType;
  if (kind !== 'bool' && kind !== 'any') {
    const found = describeType(checked.resultType);
    return { problem: `must evaluate to bool or the unknown type, not ${found}`, internal: false };
  }
  try {
    return { program: plan(checked, environment), maxCost: estimateCost(checked, environment, DEVICE_SIZES).max };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { problem: `program instantiation failed: ${error.message}`, internal: true };
  }
}
