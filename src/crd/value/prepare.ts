/**
 * Compiles a schema into a validator: one function per node, compiled on first use and cached.
 *
 * The rules are in the order in which the reference server reports errors. Satisfied rules are counted as its validator
 * counts them (see junctors.ts): one for each sub-validator that applies to the value, and one more for those that
 * count themselves.
 */

import type { JSONSchemaProps } from '../../schema/json-schema.js';
import { quote } from '../../text/go/go-text.js';
import { re2Matches, re2Problem } from '../../text/re2/index.js';
import { deepEqual } from '../../util/json.js';
import type { SchemaView } from '../schema-view.js';
import { enumerationOf } from './enums.js';
import type { FormatTest } from './formats.js';
import { formatTest } from './formats.js';
import { jsonKind } from './json-kind.js';
import { junctorRule } from './junctors.js';
import { numberRule } from './numbers.js';
import { objectRule } from './objects.js';
import type { Check } from './run.js';
import { checkTwin, type Run } from './run.js';
import type { Twin } from './twin.js';
import { checkType } from './types.js';

/**
 * What a schema validates. For the defaults in a CRD the reference server uses another conversion of the schema, which
 * keeps unknown formats and does not mark int-or-string.
 */
export type Purpose = 'objects' | 'defaults';

const ready: Readonly<Record<Purpose, WeakMap<SchemaView, Check>>> = {
  objects: new WeakMap(),
  defaults: new WeakMap(),
};

/** Returns the compiled validator of a schema. */
export function checkOf(schema: SchemaView, purpose: Purpose): Check {
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
