/**
 * Object constraints: number of properties, required and additional properties, and each property. Fields are checked
 * in the order of their names; the order of the reference server is random.
 */
import { byBytes } from '../../text/go/go-value.js';
import type { SchemaView } from '../schema-view.js';
import { type Check, checkTwin, type Run } from './run.js';
import type { Twin } from './twin.js';

/** Returns the number of satisfied rules; see prepare.ts for how they are counted. */
export type ObjectRule = (value: Record<string, unknown>, run: Run, twin: Twin | undefined) => number;

export function objectRule(schema: SchemaView, checkOf: (schema: SchemaView) => Check): ObjectRule {
  const { raw, properties, additionalProperties } = schema;
  const fields = [...properties].map(([name, view]): [string, Check] => [name, checkOf(view)]);
  fields.sort(([left], [right]) => byBytes(left, right));
  const additional = typeof additionalProperties === 'object' ? checkOf(additionalProperties) : additionalProperties;
  const isCounted = raw.minProperties !== undefined || raw.maxProperties !== undefined;
  const { required = [] } = raw;
  return (value, run, twin) => {
    let kept = 1;
    if (isCounted) checkCount(Object.keys(value).length, schema, run);
    if (additional !== undefined && additional !== true) {
      for (const key of Object.keys(value).sort(byBytes)) {
        if (properties.has(key)) continue;
        if (additional === false) {
          run.refuse(key, 'is a forbidden property', `${run.name}.${key}`);
          continue;
        }
        const inside = twinField(twin, key, run);
        run.enterAdditional(key);
        kept += checkTwin(additional, value[key], run, inside);
        run.leave();
      }
    }
    for (const [name, check] of fields) {
      if (!Object.hasOwn(value, name)) continue;
      const inside = twinField(twin, name, run);
      run.enter(name);
      kept += checkTwin(check, value[name], run, inside);
      run.leave();
    }
    for (const name of required) {
      if (Object.hasOwn(value, name)) continue;
      const path = `${run.name}.${name}`;
      run.add({ rule: 'required', name: path, text: `${path} in body is required` });
    }
    return kept;
  };
}

function checkCount(count: number, { raw }: SchemaView, run: Run): void {
  const { minProperties, maxProperties } = raw;
  if (minProperties !== undefined && count < minProperties) {
    run.refuse(count, `should have at least ${minProperties} properties`);
  }
  if (maxProperties !== undefined && count > maxProperties) {
    const text = run.worded(`should have at most ${maxProperties} properties`);
    run.add({ rule: 'count', name: run.name, text, actual: count, max: maxProperties });
  }
}

/** `kind` and `apiVersion` are not ratcheted: both values have been converted to the same version. */
function twinField(twin: Twin | undefined, name: string, run: Run): Twin | undefined {
  if (twin === undefined || (run.isAtTop && (name === 'kind' || name === 'apiVersion'))) return undefined;
  return twin.field(name);
}
