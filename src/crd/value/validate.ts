/**
 * Validates values against a JSON schema with the messages of the reference server's validator. A schema is compiled
 * into one function per node on first use. CEL rules, list types, embedded resources and scale paths are validated
 * elsewhere.
 *
 * Keywords are checked in the order in which the reference server reports errors. Matches are counted as its validator
 * counts them (see combinators.ts): one for each sub-validator that applies to the value, and one more for those that
 * count themselves.
 * upstream: kube-openapi/pkg/validation/validate/schema.go SchemaValidator.Validate
 */
import type { FieldError } from '../../meta/field-error.js';
import type { JSONSchemaProps } from '../../schema/json-schema.js';
import { quote } from '../../text/go/go-text.js';
import { compareUtf8 } from '../../text/go/go-value.js';
import { re2Problem } from '../../text/re2/index.js';
import { deepEqual } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { StructuralSchema } from '../structural-schema.js';
import { combinatorKeywords } from './combinators.js';
import { CorrelatedObject } from './correlated-object.js';
import type { FormatTest } from './formats.js';
import { formatTest } from './formats.js';
import { jsonKind } from './json-kind.js';
import { checkType, enumerationOf, numberKeywords } from './keywords.js';
import type { ValidateNode } from './validation-run.js';
import { fieldErrors, ValidationRun, validateRatcheted } from './validation-run.js';

/** Options of validation. */
export interface ValueOptions {
  /** The path of the value: `''` for a whole object, `status` for a status that is validated alone. */
  readonly base?: string;
  /** The value before an update. Violations in unchanged parts are ignored (ratcheting). */
  readonly old?: unknown;
  readonly purpose?: Purpose;
}

/**
 * What a schema validates. For the defaults in a CRD the reference server uses another conversion of the schema, which
 * keeps unknown formats and does not mark int-or-string.
 */
type Purpose = 'objects' | 'defaults';

/** Validates a value. Errors are in the order of the reference server. A valid value costs one walk. */
export function validateValue(schema: StructuralSchema, value: unknown, options: ValueOptions = {}): FieldError[] {
  const { base = '', old, purpose = 'objects' } = options;
  const check = validatorOf(schema, purpose);
  const run = new ValidationRun();
  check(value, run, undefined);
  if (run.findings.length === 0) return [];
  if (old === undefined) return fieldErrors(run.findings, base);
  const ratcheted = new ValidationRun();
  validateRatcheted(check, value, ratcheted, new CorrelatedObject(schema, value, old));
  return fieldErrors(ratcheted.findings, base);
}

const validators: Readonly<Record<Purpose, WeakMap<StructuralSchema, ValidateNode>>> = {
  objects: new WeakMap(),
  defaults: new WeakMap(),
};

/** Returns the compiled validator of a schema. */
function validatorOf(schema: StructuralSchema, purpose: Purpose): ValidateNode {
  return getOrInsertComputed(validators[purpose], schema, (one) => compileValidator(one, purpose));
}

function compileValidator(schema: StructuralSchema, purpose: Purpose): ValidateNode {
  const { raw } = schema;
  const inner = (structural: StructuralSchema) => validatorOf(structural, purpose);
  const test = formatTest(raw.format ?? '');
  const type = {
    types: typesOf(schema, purpose),
    format: test === undefined && purpose === 'objects' ? '' : (raw.format ?? ''),
    nullable: raw.nullable === true,
  };
  const isTyped = type.types.length > 0 || type.format !== '';
  const combinators = combinatorKeywords({
    anyOf: schema.anyOf.map(inner),
    oneOf: schema.oneOf.map(inner),
    allOf: schema.allOf.map(inner),
    not: schema.not === undefined ? undefined : inner(schema.not),
  });
  const text = stringKeywords(raw, test);
  const number = numberKeywords(raw);
  const list = listKeywords(raw, schema.items === undefined ? undefined : inner(schema.items));
  const allowed = raw.enum === undefined || raw.enum.length === 0 ? undefined : enumerationOf(raw.enum);
  const object = objectKeywords(schema, inner);

  return (value, run, correlated) => {
    const kind = jsonKind(value);
    // The sub-validators that always count: combinators (twice), enum, and the whole.
    let matchCount = kind === 'null' ? 0 : 4;
    if (kind === 'null' || isTyped) {
      if (kind !== 'null') matchCount++;
      if (checkType(type, kind, value, run)) matchCount++;
    }
    if (kind !== 'null' && combinators !== undefined) matchCount += combinators(value, run);
    if (kind === 'string') matchCount += text(value as string, run);
    else if (kind === 'integer' || kind === 'number') {
      number?.(value, kind === 'integer', run);
      matchCount += 2;
    } else if (kind === 'array') matchCount += list(value as readonly unknown[], run, correlated);
    if (allowed !== undefined && !allowed.has(value)) {
      run.add({
        keyword: 'enum',
        name: run.name,
        value,
        text: run.messageFor(allowed.text),
        printedValues: allowed.printedValues,
      });
    }
    if (kind === 'object') matchCount += object(value as Record<string, unknown>, run, correlated);
    return matchCount;
  };
}

function typesOf({ type, intOrString }: StructuralSchema, purpose: Purpose): readonly string[] {
  if (intOrString && purpose === 'objects') return ['integer', 'string'];
  return type === '' ? [] : [type];
}

/** Returns the number of matches. */
type ListKeywords = (value: readonly unknown[], run: ValidationRun, correlated: CorrelatedObject | undefined) => number;

function listKeywords(raw: JSONSchemaProps, items: ValidateNode | undefined): ListKeywords {
  const { minItems, maxItems, uniqueItems = false } = raw;
  return (value, run, correlated) => {
    let matchCount = 2;
    if (items !== undefined) {
      for (let index = 0; index < value.length; index++) {
        run.enter(index);
        matchCount += validateRatcheted(items, value[index], run, correlated?.item(index));
        run.leave();
      }
    }
    if (minItems !== undefined && value.length < minItems) {
      run.reject(value.length, `should have at least ${minItems} items`);
    }
    if (maxItems !== undefined && value.length > maxItems) {
      const text = run.messageFor(`should have at most ${maxItems} items`);
      run.add({ keyword: 'count', name: run.name, text, actual: value.length, max: maxItems });
    }
    if (uniqueItems && hasDuplicates(value)) run.reject('', "shouldn't contain duplicates");
    return matchCount;
  };
}

function hasDuplicates(items: readonly unknown[]): boolean {
  return items.some((item, index) => items.slice(0, index).some((other) => deepEqual(item, other)));
}

/** Returns the number of matches. */
type StringKeywords = (value: string, run: ValidationRun) => number;

function stringKeywords(raw: JSONSchemaProps, hasFormat: FormatTest | undefined): StringKeywords {
  const { maxLength, minLength, pattern = '', format = '' } = raw;
  const hasNoLimits = maxLength === undefined && minLength === undefined && pattern === '';
  return (value, run) => {
    // Only the first violated keyword is reported, in addition to the format.
    if (!hasNoLimits) {
      if (maxLength !== undefined && isLonger(value, Number(maxLength))) {
        const broken = run.messageFor(`should be at most ${maxLength} chars long`);
        run.add({ keyword: 'length', name: run.name, text: broken, max: maxLength });
      } else if (minLength !== undefined && minLength > 0 && !isLonger(value, Number(minLength) - 1)) {
        run.reject(value, `should be at least ${minLength} chars long`);
      } else if (pattern !== '' && !run.matches(pattern, value)) {
        run.reject(value, `should match '${printPattern(pattern)}'`);
      }
    }
    if (hasFormat === undefined) return 1;
    if (!hasFormat(value)) {
      const broken = run.messageFor(`must be of type ${format}: ${quote(value)}`);
      run.add({ keyword: 'type', name: run.name, value, text: broken });
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

function printPattern(pattern: string): string {
  const problem = re2Problem(pattern);
  return problem === undefined ? pattern : `${pattern}, but pattern is invalid: ${problem}`;
}

/** Returns the number of matches; see combinators.ts for how they are counted. */
type ObjectKeywords = (
  value: Record<string, unknown>,
  run: ValidationRun,
  correlated: CorrelatedObject | undefined,
) => number;

function objectKeywords(schema: StructuralSchema, checkOf: (schema: StructuralSchema) => ValidateNode): ObjectKeywords {
  const { raw, properties, additionalProperties } = schema;
  const fields = [...properties].map(([name, structural]): [string, ValidateNode] => [name, checkOf(structural)]);
  fields.sort(([left], [right]) => compareUtf8(left, right));
  const additional = typeof additionalProperties === 'object' ? checkOf(additionalProperties) : additionalProperties;
  const isCounted = raw.minProperties !== undefined || raw.maxProperties !== undefined;
  const { required = [] } = raw;
  return (value, run, correlated) => {
    let matchCount = 1;
    if (isCounted) checkCount(Object.keys(value).length, schema, run);
    if (additional !== undefined && additional !== true) {
      for (const key of Object.keys(value).sort(compareUtf8)) {
        if (properties.has(key)) continue;
        if (additional === false) {
          run.reject(key, 'is a forbidden property', `${run.name}.${key}`);
          continue;
        }
        const inside = correlatedField(correlated, key, run);
        run.enterAdditional(key);
        matchCount += validateRatcheted(additional, value[key], run, inside);
        run.leave();
      }
    }
    for (const [name, check] of fields) {
      if (!Object.hasOwn(value, name)) continue;
      const inside = correlatedField(correlated, name, run);
      run.enter(name);
      matchCount += validateRatcheted(check, value[name], run, inside);
      run.leave();
    }
    for (const name of required) {
      if (Object.hasOwn(value, name)) continue;
      const path = `${run.name}.${name}`;
      run.add({ keyword: 'required', name: path, text: `${path} in body is required` });
    }
    return matchCount;
  };
}

function checkCount(count: number, { raw }: StructuralSchema, run: ValidationRun): void {
  const { minProperties, maxProperties } = raw;
  if (minProperties !== undefined && count < minProperties) {
    run.reject(count, `should have at least ${minProperties} properties`);
  }
  if (maxProperties !== undefined && count > maxProperties) {
    const text = run.messageFor(`should have at most ${maxProperties} properties`);
    run.add({ keyword: 'count', name: run.name, text, actual: count, max: maxProperties });
  }
}

/** `kind` and `apiVersion` are not ratcheted: both values have been converted to the same version. */
function correlatedField(
  correlated: CorrelatedObject | undefined,
  name: string,
  run: ValidationRun,
): CorrelatedObject | undefined {
  if (correlated === undefined || (run.isAtTop && (name === 'kind' || name === 'apiVersion'))) return undefined;
  return correlated.field(name);
}
