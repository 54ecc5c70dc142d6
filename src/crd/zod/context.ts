/**
 * The shared types and helpers of the conversion from zod to CRD schemas. A CRD schema declares a structure and
 * constraints on values; constraints of zod that it cannot express are reported per field.
 */
import type * as z from 'zod';
import type { Dialect } from '../../meta/dialect.js';
import type { ExtensionName, JSONSchemaProps } from '../../schema/json-schema.js';

/** A constraint of a kind that the schema of its CRD does not express. */
export interface SchemaLoss {
  /** The field: `spec.parts[*].name`; empty for the kind as a whole. */
  readonly path: string;
  /** What is lost: `a refinement`, `the pattern /(.)\1/ (has a back reference)`. */
  readonly what: string;
  /**
   * - `weaker`: the CRD accepts values that the kind rejects
   * - `differs`: in rare cases the CRD also rejects values that the kind accepts
   */
  readonly effect: 'weaker' | 'differs';
}

export type ZodNode = z.core.$ZodType;
export type ZodDef = z.core.$ZodTypes['_zod']['def'];

/** A schema that is being built. */
export type Draft = JSONSchemaProps;

/** The position and state of the conversion. */
export interface ZodPosition {
  /** The field path in reported losses. */
  readonly path: string;
  /** The name of the kind in messages. */
  readonly owner: string;
  /** The number of schemas converted so far. */
  readonly count: { nodes: number };
  readonly dialect: Dialect;
  /** True inside a union or an intersection, where no defaults are applied. */
  readonly noDefaults: boolean;
  /** The enclosing schemas, to detect a schema that refers to itself. */
  readonly enclosing: readonly ZodNode[];
  /** Object schemas that reject unknown fields. */
  readonly closed: WeakSet<Draft>;
  readonly report: (loss: SchemaLoss) => void;
  /** Omit the date formats, which would become timestamps in CEL expressions. */
  readonly datesAreTexts: boolean;
}

/** The position of a field or an item. */
export function below(position: ZodPosition, step: string): ZodPosition {
  const path = step.startsWith('[') || position.path === '' ? `${position.path}${step}` : `${position.path}.${step}`;
  return { ...position, path };
}

/** Reports a constraint that the CRD schema does not express. */
export function reportLoss(position: ZodPosition, what: string, effect: SchemaLoss['effect'] = 'weaker'): void {
  position.report({ path: position.path, what, effect });
}

/** The definition of a zod schema. */
export function defOf(schema: ZodNode): ZodDef {
  return (schema as z.core.$ZodTypes)._zod.def;
}

/** The checks of a schema, including the schema itself if it is a check (`z.email()`, `z.int()`). */
export function checksOf(schema: ZodNode): readonly CheckDef[] {
  const def = defOf(schema) as ZodDef & Partial<CheckDef>;
  const own = typeof def.check === 'string' ? [def as CheckDef] : [];
  return [...own, ...(def.checks ?? []).map((check) => check._zod.def as CheckDef)];
}

/** The definition of a zod check; which members are present depends on `check` and `format`. */
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

/** Checks that only carry documentation. */
const DOCUMENTATION_CHECKS: readonly string[] = ['describe', 'meta'];

/** Reports all checks except the supported ones. */
export function reportUnsupportedChecks(
  checks: readonly CheckDef[],
  supported: readonly string[],
  position: ZodPosition,
): void {
  for (const { check } of checks) {
    if (supported.includes(check) || DOCUMENTATION_CHECKS.includes(check)) continue;
    reportLoss(position, check === 'custom' ? 'a refinement' : `the check ${check}`);
  }
}

/** The schema that accepts and preserves any value. */
export function anyValue({ dialect }: ZodPosition): Draft {
  return { [extension(dialect, 'preserve-unknown-fields')]: true };
}

/** The schema keyword of an extension in a dialect. */
export function extension(dialect: Dialect, name: ExtensionName): `x-${string}` {
  return dialect.extension(name) as `x-${string}`;
}

/**
 * Makes a schema nullable. The validator never accepts null for an `enum`, but does not validate null against `allOf`,
 * so an enum moves there.
 */
export function allowNull(draft: Draft): void {
  draft.nullable = true;
  if (draft.enum === undefined || draft.enum.length === 0) return;
  addAllOf(draft, [{ enum: draft.enum }]);
  delete draft.enum;
}

/** Adds constraints in `allOf`. */
export function addAllOf(draft: Draft, more: readonly Draft[]): void {
  if (more.length > 0) draft.allOf = [...(draft.allOf ?? []), ...more];
}

/** Adds constraints directly where the keywords are free, otherwise in `allOf`. */
export function addConstraints(draft: Draft, more: readonly Draft[]): void {
  for (const each of more) {
    if (Object.keys(each).some((key) => Object.hasOwn(draft, key))) addAllOf(draft, [each]);
    else Object.assign(draft, each);
  }
}
