/**
 * The environments in which cel-go produced the checker and cost cases: variables of all types, an object with a
 * schema, and three size estimators.
 */
import { readFileSync } from 'node:fs';
import { check } from '../../../src/cel/check/check.js';
import type { CheckedExpression, Environment } from '../../../src/cel/engine.js';
import { createEnvironment } from '../../../src/cel/environment.js';
import { LANGUAGE_LIBRARIES, VALUE_LIBRARIES } from '../../../src/cel/library/environments.js';
import { OPTIONALS_LIBRARY } from '../../../src/cel/library/optional.js';
import type { Library, NodeToEstimate, SizeEstimate, SizeEstimator } from '../../../src/cel/library.js';
import { parse } from '../../../src/cel/parse/parse.js';
import { issuesText, TextSource } from '../../../src/cel/parse/source.js';
import type { CelType } from '../../../src/cel/types.js';
import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  objectType,
  opaqueType,
  optionalOf,
  STRING,
  TIMESTAMP,
  TYPE,
  typeParam,
  UINT,
  wrapperOf,
} from '../../../src/cel/types.js';
import { schemaProvider } from './schema-provider.js';

/** A type with the maximum sizes of its values. */
interface Shape {
  readonly type: CelType;
  readonly max: number;
  readonly item?: Shape;
  readonly key?: Shape;
  readonly fields?: ReadonlyMap<string, Shape>;
}

const UNBOUNDED = 2 ** 64;
const objects = new Map<string, ReadonlyMap<string, Shape>>();

const text = (max: number): Shape => ({ type: STRING, max });
const plain = (type: CelType): Shape => ({ type, max: 0 });
const list = (item: Shape, max: number): Shape => ({ type: listOf(item.type), max, item });
const map = (key: Shape, item: Shape, max: number): Shape => ({ type: mapOf(key.type, item.type), max, item, key });
const object = (name: string, fields: Readonly<Record<string, Shape>>): Shape => {
  const byName = new Map(Object.entries(fields));
  objects.set(name, byName);
  return { type: objectType(name), max: 0, fields: byName };
};

const item = object('item', {
  key: text(7),
  val: plain(INT),
  nested: map(text(5), list(text(6), 4), 3),
  list: list(text(9), 12),
  name: text(33),
});
const root = object('Root', {
  name: text(20),
  count: plain(INT),
  when: plain(TIMESTAMP),
  span: plain(DURATION),
  raw: plain(BYTES),
  tags: list(text(10), 5),
  labels: map(text(15), text(25), 8),
  items: list(item, 10),
  byName: map(text(11), item, 13),
  child: object('child', {
    deep: object('deep', { value: text(44), list: list(item, 6), other: list(text(3), 17) }),
    flag: plain(BOOL),
    num: plain(DOUBLE),
    dyn: plain(DYN),
  }),
  big: list(text(100_000), 100_000),
  unbounded: list(text(UNBOUNDED), UNBOUNDED),
});

const provider = schemaProvider({
  hasType: (name) => objects.has(name),
  fieldType: (name, field) => objects.get(name)?.get(field)?.type,
  fieldNames: (name) => [...(objects.get(name)?.keys() ?? [])],
});

const variables: Readonly<Record<string, CelType>> = {
  b: BOOL,
  i: INT,
  u: UINT,
  d: DOUBLE,
  s: STRING,
  by: BYTES,
  t: TIMESTAMP,
  du: DURATION,
  n: NULL,
  dy: DYN,
  an: ANY,
  wi: wrapperOf(INT),
  ws: wrapperOf(STRING),
  li: listOf(INT),
  ls: listOf(STRING),
  ll: listOf(listOf(INT)),
  ld: listOf(DYN),
  lw: listOf(wrapperOf(INT)),
  msi: mapOf(STRING, INT),
  mss: mapOf(STRING, STRING),
  mis: mapOf(INT, STRING),
  msd: mapOf(STRING, DYN),
  msl: mapOf(STRING, listOf(STRING)),
  oi: optionalOf(INT),
  ols: optionalOf(listOf(STRING)),
  omi: optionalOf(mapOf(STRING, INT)),
  op: opaqueType('my.opaque'),
  opp: opaqueType('pair', INT, STRING),
  ty: TYPE,
  nf: objectType('not.found'),
  'a.b.c': INT,
  'a.b.v': STRING,
  'a.x': mapOf(STRING, INT),
};

const T = typeParam('T');
const FUNCTIONS: Library = {
  name: 'functions with long names',
  functions: [
    { name: 'a.b.fun', overloads: [{ id: 'a_b_fun', member: false, params: [INT], result: STRING }] },
    { name: 'a.fun2', overloads: [{ id: 'a_fun2', member: false, params: [T, listOf(T)], result: mapOf(T, STRING) }] },
  ],
};

const withSchema = { libraries: [FUNCTIONS], variables: { ...variables, self: root.type }, provider };

export const ENVIRONMENTS: Readonly<Record<string, Environment>> = {
  standard: createEnvironment({ libraries: [OPTIONALS_LIBRARY] }).extend(withSchema),
  server: createEnvironment({ libraries: [...LANGUAGE_LIBRARIES, ...VALUE_LIBRARIES] }).extend(withSchema),
  loose: createEnvironment({
    libraries: [OPTIONALS_LIBRARY, FUNCTIONS],
    variables,
    homogeneousLiterals: false,
    crossTypeComparisons: false,
    literalChecks: false,
    container: 'a.b',
  }),
};

/** Every path starts at the object, whatever variable it names, as for validation rules in the reference server. */
export const SCHEMA_SIZES: SizeEstimator = {
  estimateSize({ path }: NodeToEstimate): SizeEstimate | undefined {
    if (path.length === 0) return undefined;
    let shape: Shape | undefined = root;
    for (const step of path.slice(1)) {
      if (step === '@items' || step === '@values') shape = shape?.item;
      else if (step === '@keys') shape = shape?.key;
      else shape = shape?.fields?.get(step);
    }
    return shape && { min: 0, max: shape.max };
  },
};

/** Sizes that depend on the whole path, and none for a quarter of the paths. */
export const HASHED_SIZES: SizeEstimator = {
  estimateSize({ path }: NodeToEstimate): SizeEstimate | undefined {
    if (path.length === 0) return undefined;
    let hash = 7n;
    for (const character of path.join('')) hash = (hash * 31n + BigInt(character.codePointAt(0) ?? 0)) % 1_000_003n;
    return hash % 4n === 0n ? undefined : { min: Number(hash % 5n), max: Number(hash % 997n) };
  },
};

/** The issues as clients see them, or the checked expression. */
export function compile(expression: string, environment: Environment): CheckedExpression | string {
  const parsed = parse(expression, environment.macros);
  if ('issues' in parsed) return issuesText(new TextSource(expression), parsed.issues);
  const checked = check(parsed, environment);
  return 'issues' in checked ? issuesText(parsed.source, checked.issues) : checked;
}

/** Reads a file in this folder with one JSON value per line. */
export function readCases<Case>(name: string): readonly Case[] {
  const lines = readFileSync(new URL(name, import.meta.url), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Case);
}
