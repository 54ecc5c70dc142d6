/**
 * What a schema says about lists: their items, and how many there may be.
 */
import { deepEqual } from '../../util/json.js';
import type { JSONSchemaProps } from '../../schema/json-schema.js';
import { type Check, checkTwin, type Run } from './run.js';
import type { Twin } from './twin.js';

/** Returns how many rules were kept, as prepare.ts counts them. */
export type ListRule = (value: readonly unknown[], run: Run, twin: Twin | undefined) => number;

export function listRule(raw: JSONSchemaProps, items: Check | undefined): ListRule {
  const { minItems, maxItems, uniqueItems = false } = raw;
  return (value, run, twin) => {
    let kept = 2;
    if (items !== undefined) {
      for (let index = 0; index < value.length; index++) {
        run.enter(index);
        kept += checkTwin(items, value[index], run, twin?.item(index));
        run.leave();
      }
    }
    if (minItems !== undefined && value.length < minItems) {
      run.refuse(value.length, `should have at least ${minItems} items`);
    }
    if (maxItems !== undefined && value.length > maxItems) {
      const text = run.worded(`should have at most ${maxItems} items`);
      run.add({ rule: 'count', name: run.name, text, actual: value.length, max: maxItems });
    }
    if (uniqueItems && hasRepeated(value)) run.refuse('', "shouldn't contain duplicates");
    return kept;
  };
}

function hasRepeated(items: readonly unknown[]): boolean {
  return items.some((item, index) => items.slice(0, index).some((other) => deepEqual(item, other)));
}
