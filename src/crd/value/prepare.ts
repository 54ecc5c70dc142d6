/**
 * A schema made ready to judge values: one function per node, made when the schema is first used and kept with it.
 *
 * The order of the rules is that in which the reference server reports what is broken, and every rule that is kept is
 * counted as it counts them (see junctors.ts): one for each part of its validator that looks at the value, one more for
 * those parts that count themselves.
 */
import type { SchemaView } from '../schema-view.js';
import { enumerationOf } from './enums.js';
import { formatTest } from './formats.js';
import { jsonKind } from './json-kind.js';
import { junctorRule } from './junctors.js';
import { listRule } from './lists.js';
import { numberRule } from './numbers.js';
import { objectRule } from './objects.js';
import type { Check } from './run.js';
import { textRule } from './texts.js';
import { checkType } from './types.js';

/**
 * What a schema is used for. The defaults in a definition are judged by another form of it, which keeps formats that
 * nobody knows and does not say that an int-or-string is one.
 */
export type Purpose = 'objects' | 'defaults';

const ready: Readonly<Record<Purpose, WeakMap<SchemaView, Check>>> = {
  objects: new WeakMap(),
  defaults: new WeakMap(),
};

/** The check of a schema, made once. */
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
    // Of the parts that count: that of junctors, with what it counts itself, that of lists of values, and the whole.
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
