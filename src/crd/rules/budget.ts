/**
 * Limits on the estimated cost of validation rules: of each rule, multiplied by the number of values it may apply to,
 * and of all rules of a schema.
 */
import type { FieldError } from '../../meta/field-error.js';
import { forbidden } from '../../meta/field-error.js';
import type { SchemaView } from '../schema-view.js';

/** The limit for one rule, all its evaluations included. */
const RULE_COST_LIMIT = 10_000_000;
/** The limit for all rules of a schema. */
const SCHEMA_COST_LIMIT = 100_000_000;

/** Costs saturate here. */
const MAX_COST = 2 ** 64;

/**
 * The maximum number of values inside a node, given the maximum number of values of the node. Undefined if it is
 * unbounded.
 */
export function placesInside(schema: SchemaView, places: number | undefined): number | undefined {
  if (places === undefined) return undefined;
  const { maxItems, maxProperties } = schema.raw;
  const isMap = schema.type === 'object' && schema.additionalProperties !== undefined;
  if (!isMap && schema.type !== 'array') return places;
  const limit = isMap ? maxProperties : maxItems;
  return limit === undefined ? undefined : times(places, Math.max(0, Number(limit)));
}

export function times(cost: number, places: number): number {
  return cost === 0 ? 0 : Math.min(MAX_COST, cost * places);
}

/** Returns a message if the cost exceeds the limit. */
export function costProblem(what: string, cost: number, limit = RULE_COST_LIMIT): string | undefined {
  if (cost <= limit) return undefined;
  const hint =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${what} exceeds budget by factor of ${factorText(cost / limit)} (${hint})`;
}

/** Prints small factors exactly and large ones only as `more than 100x`. */
function factorText(factor: number): string {
  if (factor > 100) return 'more than 100x';
  return `${toFixedEven(factor, factor < 1.5 ? 6 : 1)}x`;
}

/** Formats like Go's %f: ties round to even. */
function toFixedEven(value: number, digits: number): string {
  const rounded = value.toFixed(digits);
  // 60 digits are all that a double of this size can have.
  const exact = value.toFixed(60);
  const isTie = /^50*$/.test(exact.slice(exact.indexOf('.') + 1 + digits));
  const below = exact.slice(0, exact.indexOf('.') + 1 + digits);
  return isTie && /[02468]$/.test(below) ? below : rounded;
}

interface RuleCost {
  readonly path: string;
  readonly cost: number;
}

/** Adds up the estimated costs of all expressions of a schema. */
export class TotalCost {
  #total = 0;
  /** At most four, the most expensive first. */
  #largest: RuleCost[] = [];

  add(path: string, cost: number): void {
    this.#total = Math.min(MAX_COST, this.#total + cost);
    if (cost < SCHEMA_COST_LIMIT / 100) return;
    this.#largest = [...this.#largest, { path, cost }].sort((left, right) => right.cost - left.cost).slice(0, 4);
  }

  /** `path` is that of the schema; `extension` is the name of the rules extension in it. */
  errors(path: string, extension: string): FieldError[] {
    const what = `${extension} estimated rule cost total for entire OpenAPIv3 schema`;
    const problem = costProblem(what, this.#total, SCHEMA_COST_LIMIT);
    if (problem === undefined) return [];
    const share = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    return [...this.#largest.map((rule) => forbidden(rule.path, share)), forbidden(path, problem)];
  }
}
