/**
 * The contract of this folder: from zod to the schemas of custom kinds. A schema there is a promise about structure (which
 * fields there are, and of which type) and a list of restrictions on values; zod can say more than both. What cannot be
 * said is reported, field by field.
 */
import type * as z from 'zod';
import type { Dialect } from '../../meta/dialect.js';
import type { ExtensionName, JSONSchemaProps } from '../../schema/json-schema.js';

/** Something that a kind says and the schema of its definition does not. */
export interface SchemaLoss {
  /** Which field: `spec.parts[*].name`; empty for the kind as a whole. */
  readonly path: string;
  /** What is not said: `a refinement`, `the pattern /(.)\1/ (refers back to a group)`. */
  readonly what: string;
  /**
   * - `weaker`: the definition lets values through that the kind refuses
   * - `differs`: in rare cases it also refuses values that the kind lets through
   */
  readonly effect: 'weaker' | 'differs';
}

export type ZodNode = z.core.$ZodType;
export type ZodDef = z.core.$ZodTypes['_zod']['def'];
export type ZodCheck = z.core.$ZodCheck;

/** A schema while it is put together. */
export type Draft = JSONSchemaProps;

/** Where the walk is. */
export interface Place {
  /** As losses name it. */
  readonly path: string;
  /** The kind, as messages name it. */
  readonly owner: string;
  /** The schemas met so far, on the whole walk. */
  readonly count: { nodes: number };
  readonly dialect: Dialect;
  /** Inside a union or an intersection, where nothing is filled in. */
  readonly noDefaults: boolean;
  /** The schemas around this one: a schema that refers to itself has no end. */
  readonly around: readonly ZodNode[];
  /** Objects that take no field beside their own. */
  readonly closed: WeakSet<Draft>;
  readonly report: (loss: SchemaLoss) => void;
  /** Formats that expressions take for more than texts are left out. */
  readonly datesAreTexts: boolean;
}

export function below(place: Place, step: string): Place {
  const path = step.startsWith('[') || place.path === '' ? `${place.path}${step}` : `${place.path}.${step}`;
  return { ...place, path };
}

export function lose(place: Place, what: string, effect: SchemaLoss['effect'] = 'weaker'): void {
  place.report({ path: place.path, what, effect });
}

export function defOf(schema: ZodNode): ZodDef {
  return (schema as z.core.$ZodTypes)._zod.def;
}

/** The checks of a schema, itself included where it is one (`z.email()`, `z.int()`). */
export function checksOf(schema: ZodNode): readonly CheckDef[] {
  const def = defOf(schema) as ZodDef & Partial<CheckDef>;
  const own = typeof def.check === 'string' ? [def as unknown as CheckDef] : [];
  return [...own, ...(def.checks ?? []).map((check) => check._zod.def as CheckDef)];
}

/** What a check says of itself; which of the rest is there depends on `check`, and on `format`. */
export interface CheckDef {
  readonly check: string;
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly value?: unknown;
  readonly inclusive?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly length?: number;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly includes?: string;
  readonly position?: number;
  readonly local?: boolean;
  readonly precision?: number | null;
  readonly hostname?: RegExp;
  readonly protocol?: RegExp;
}

/** Checks that only carry words about a schema. */
const WORDS: readonly string[] = ['describe', 'meta'];

/** Reports the checks that nobody has put into words; `known` are those that somebody has. */
export function loseOthers(checks: readonly CheckDef[], known: readonly string[], place: Place): void {
  for (const { check } of checks) {
    if (known.includes(check) || WORDS.includes(check)) continue;
    lose(place, check === 'custom' ? 'a refinement' : `the check ${check}`);
  }
}

/** A schema of anything: kept as it is sent. */
export function anything({ dialect }: Place): Draft {
  return { [extension(dialect, 'preserve-unknown-fields')]: true };
}

/** The name of an extension in a dialect, as a keyword of schemas. */
export function extension(dialect: Dialect, name: ExtensionName): `x-${string}` {
  return dialect.extension(name) as `x-${string}`;
}

/** Lets null through. A list of values never holds null for the validator, but what stands in `allOf` it does not ask. */
export function allowNull(draft: Draft): void {
  draft.nullable = true;
  if (draft.enum === undefined || draft.enum.length === 0) return;
  restrict(draft, [{ enum: draft.enum }]);
  delete draft.enum;
}

/** Adds restrictions that hold beside those that are there already, in `allOf`. */
export function restrict(draft: Draft, more: readonly Draft[]): void {
  if (more.length > 0) draft.allOf = [...(draft.allOf ?? []), ...more];
}

/** The same, side by side where that says it. */
export function demand(draft: Draft, more: readonly Draft[]): void {
  for (const each of more) {
    if (Object.keys(each).some((key) => Object.hasOwn(draft, key))) restrict(draft, [each]);
    else Object.assign(draft, each);
  }
}
