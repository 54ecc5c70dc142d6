/**
 * Validation of node taints, and of the effects that taints and tolerations share.
 */

import type { FieldError } from '../../meta/field-error.js';
import { childPath, fieldError, invalid, keyPath, required } from '../../meta/field-error.js';
import { labelValueProblems, qualifiedNameProblems } from '../../meta/names.js';
import { quote, type Verbatim, verbatim } from '../../text/go/go-text.js';
import { goTimeSyntax } from '../../text/time/time.js';
import { append } from '../../util/arrays.js';
import { valueErrors } from './field-rules.js';

export interface Taint {
  readonly key?: string | undefined;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
  readonly timeAdded?: string | null | undefined;
}

/** In the order in which the reference server's messages list them. */
export const TAINT_EFFECTS: readonly string[] = Object.freeze(['NoSchedule', 'PreferNoSchedule', 'NoExecute']);

/** Validates a node's taints. The reference server reports them at `metadata.taints`, although they are in the spec. */
export function validateNodeTaints(path: string, taints: readonly Taint[]): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    const at = keyPath(path, index);
    const { key = '', value = '', effect = '' } = taint;
    append(
      found,
      qualifiedNameProblems(key).map((problem) => invalid(childPath(at, 'key'), key, problem)),
    );
    const problems = labelValueProblems(value);
    if (problems.length > 0) found.push(invalid(childPath(at, 'value'), value, problems.join(';')));
    append(found, validateTaintEffect(childPath(at, 'effect'), effect));
    // Unambiguous: a valid effect contains no slash.
    const pair = `${effect}/${key}`;
    if (seen.has(pair)) {
      const detail = 'taints must be unique by key and effect pair';
      found.push(fieldError('duplicate', at, { value: goSyntaxTaint(taint), detail }));
    }
    seen.add(pair);
  }
  return found;
}

/** The effect is required: tolerations call this only if they have one. */
export function validateTaintEffect(path: string, effect: string): FieldError[] {
  if (effect === '') return [required(path)];
  return valueErrors(path, effect, TAINT_EFFECTS);
}

/** Prints a taint as Go's `%#v`: the value of a duplicate taint. */
function goSyntaxTaint({ key = '', value = '', effect = '', timeAdded }: Taint): Verbatim {
  const fields = `Key:${quote(key)}, Value:${quote(value)}, Effect:${quote(effect)}`;
  return verbatim(`core.Taint{${fields}, TimeAdded:${goSyntaxTimePointer(timeAdded)}}`);
}

function goSyntaxTimePointer(time: string | null | undefined): string {
  return time === undefined || time === null || time === '' ? '<nil>' : goTimeSyntax(time);
}
