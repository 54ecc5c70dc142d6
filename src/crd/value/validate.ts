/**
 * Validates values against a JSON schema with the messages of the reference server's validator. CEL rules, list types,
 * embedded resources and scale paths are validated elsewhere.
 */
import type { FieldError } from '../../meta/field-error.js';
import type { JSONSchemaProps } from '../../schema/json-schema.js';
import { quote } from '../../text/go/go-text.js';
import { byBytes } from '../../text/go/go-value.js';
import { re2Matches, re2Problem } from '../../text/re2/index.js';
import { deepEqual } from '../../util/json.js';
import type { SchemaView } from '../schema-view.js';
import { Twin } from './correlated-object.js';
import type { FormatTest } from './formats.js';
import { formatTest } from './formats.js';
import { jsonKind } from './json-kind.js';
import { junctorRule } from './junctors.js';
import { checkType, enumerationOf, numberRule } from './keywords.js';
import type { Check } from './validation-run.js';
import { checkTwin, fieldErrors, Run } from './validation-run.js';

const ready: Readonly<Record<Purpose, WeakMap<SchemaView, Check>>> = {
  objects: new WeakMap(),
  defaults: new WeakMap(),
};

export interface ValueOptions {
  /** The path of the value: `''` for a whole object, `status` for a status that is validated alone. */
  readonly base?: string;
  /** The value before an update. Violations in unchanged parts are ignored (ratcheting). */
  readonly old?: unknown;
  readonly purpose?: Purpose;
}

/** Validates a value. Errors are in the order of the reference server. A valid value costs one walk. */
export function validateValue(schema: SchemaView, value: unknown, options: ValueOptions = {}): FieldError[] {
  const { base = '', old, purpose = 'objects' } = options;
  const check = checkOf(schema, purpose);
  const run = new Run();
  check(value, run, undefined);
  if (run.findings.length === 0) return [];
  if (old === undefined) return fieldErrors(run.findings, base);
  const ratcheted = new Run();
  checkTwin(check, value, ratcheted, new Twin(schema, value, old));
  return fieldErrors(ratcheted.findings, base);
}

/**
 * What a schema validates. For the defaults in a CRD the reference server uses another conversion of the schema, which
 * keeps unknown formats and does not mark int-or-string.
 */
type Purpose = 'objects' | 'defaults';

/** Returns the compiled validator of a schema. */
function checkOf(schema: SchemaView, purpose: Purpose): Check {
  let check = ready[purpose].get(schema);
  if (check === undefined) {
    check = prepare(schema, purpose);
    ready[purpose].set(schema, check);
  }
  return check;
}

function prepare(schema: SchemaView, purpose: Purpose): Check {
  const { raw } = schema;
  const inner = (view: SchemaView) => checkOf(view, purpose);
  const test = formatTest(raw.format ?? '');
  const type = {
    types: typesOf(schema, purpose),
    format: test === undefined && purpose === 'objects' ? '' : (raw.format ?? ''),
    nullable: raw.nullable === true,
  };
  const isTyped = type.types.length > 0 || type.format !== '';
  const junctors = junctorRule({
    anyOf: schema.anyOf.map(inner),
    oneOf: schema.oneOf.map(inner),
    allOf: schema.allOf.map(inner),
    not: schema.not === undefined ? undefined : inner(schema.not),
  });
  const text = textRule(raw, test);
  const number = numberRule(raw);
  const list = listRule(raw, schema.items === undefined ? undefined : inner(schema.items));
  const allowed = raw.enum === undefined || raw.enum.length === 0 ? undefined : enumerationOf(raw.enum);
  const object = objectRule(schema, inner);

  return (value, run, twin) => {
    const kind = jsonKind(value);
    // The sub-validators that always count: junctors (twice), enum, and the whole.
    let kept = kind === 'null' ? 0 : 4;
    if (kind === 'null' || isTyped) {
      if (kind !== 'null') kept++;
      if (checkType(type, kind, value, run)) kept++;
    }
    if (kind !== 'null' && junctors !== undefined) kept += junctors(value, run);
    if (kind === 'string') kept += text(value as string, run);
    else if (kind === 'integer' || kind === 'number') {
      number?.(value, kind === 'integer', run);
      kept += 2;
    } else if (kind === 'array') kept += list(value as readonly unknown[], run, twin);
    if (allowed !== undefined && !allowed.has(value)) {
      run.add({ rule: 'enum', name: run.name, value, text: run.worded(allowed.text), shown: allowed.shown });
    }
    if (kind === 'object') kept += object(value as Record<string, unknown>, run, twin);
    return kept;
  };
}

function typesOf({ type, intOrString }: SchemaView, purpose: Purpose): readonly string[] {
  if (intOrString && purpose === 'objects') return ['integer', 'string'];
  return type === '' ? [] : [type];
}

/** Returns the number of satisfied rules. */
type ListRule = (value: readonly unknown[], run: Run, twin: Twin | undefined) => number;

function listRule(raw: JSONSchemaProps, items: Check | undefined): ListRule {
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

/** Returns the number of satisfied rules. */
type TextRule = (value: string, run: Run) => number;

function textRule(raw: JSONSchemaProps, hasFormat: FormatTest | undefined): TextRule {
  const { maxLength, minLength, pattern = '', format = '' } = raw;
  const isPlain = maxLength === undefined && minLength === undefined && pattern === '';
  return (value, run) => {
    // Only the first violated rule is reported, in addition to the format.
    if (!isPlain) {
      if (maxLength !== undefined && isLonger(value, Number(maxLength))) {
        const broken = run.worded(`should be at most ${maxLength} chars long`);
        run.add({ rule: 'length', name: run.name, text: broken, max: maxLength });
      } else if (minLength !== undefined && minLength > 0 && !isLonger(value, Number(minLength) - 1)) {
        run.refuse(value, `should be at least ${minLength} chars long`);
      } else if (pattern !== '' && !re2Matches(pattern, value))
        run.refuse(value, `should match '${shownPattern(pattern)}'`);
    }
    if (hasFormat === undefined) return 1;
    if (!hasFormat(value)) {
      const broken = run.worded(`must be of type ${format}: ${quote(value)}`);
      run.add({ rule: 'type', name: run.name, value, text: broken });
    }
    return 2;
  };
}

/** Compares the number of code points. A string has between half as many and as many code points as UTF-16 units. */
function isLonger(text: string, count: number): boolean {
  if (text.length <= count) return false;
  if (text.length > count * 2) return true;
  let characters = 0;
  for (const _ of text) characters++;
  return characters > count;
}

function shownPattern(pattern: string): string {
  const problem = re2Problem(pattern);
  return problem === undefined ? pattern : `${pattern}, but pattern is invalid: ${problem}`;
}

/** Returns the number of satisfied rules; see prepare.ts for how they are counted. */
type ObjectRule = (value: Record<string, unknown>, run: Run, twin: Twin | undefined) => number;

function objectRule(schema: SchemaView, checkOf: (schema: SchemaView) => Check): ObjectRule {
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
