/**
 * What rules may cost, judged before any of them has run: each by itself, times the number of places where it may run,
 * and all of them together.
 */
import type { FieldError } from '../../meta/field-error.js';
import { forbidden } from '../../meta/field-error.js';
import type { SchemaView } from '../schema-view.js';

/** Of one rule, wherever it runs. */
const RULE_COST_LIMIT = 10_000_000;
/** Of all rules of a schema. */
const SCHEMA_COST_LIMIT = 100_000_000;

/** Where costs stop growing. */
const MAX_COST = 2 ** 64;

/**
 * In how many places the inside of a value may be, when the value itself may be in so many. Undefined when nothing
 * limits it.
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

/** Undefined for a cost within the limit. */
export function costProblem(what: string, cost: number, limit = RULE_COST_LIMIT): string | undefined {
  if (cost <= limit) return undefined;
  const hint =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${what} exceeds budget by factor of ${factorText(cost / limit)} (${hint})`;
}

/** Exact where it is close, and not at all where it is far off. */
function factorText(factor: number): string {
  if (factor > 100) return 'more than 100x';
  return `${toFixedEven(factor, factor < 1.5 ? 6 : 1)}x`;
}

/** Rounded as the reference server does: what lies exactly between two goes to the even one. */
function toFixedEven(value: number, digits: number): string {
  const rounded = value.toFixed(digits);
  // All digits that a factor can have: a double of this size ends within 60 places.
  const exact = value.toFixed(60);
  const isTie = /^50*$/.test(exact.slice(exact.indexOf('.') + 1 + digits));
  const below = exact.slice(0, exact.indexOf('.') + 1 + digits);
  return isTie && /[02468]$/.test(below) ? below : rounded;
}

interface RuleCost {
  readonly path: string;
  readonly cost: number;
}

/** Adds up what the expressions of one schema cost. */
export class TotalCost {
  #total = 0;
  /** At most four, the most expensive first. */
  #largest: RuleCost[] = [];

  add(path: string, cost: number): void {
    this.#total = Math.min(MAX_COST, this.#total + cost);
    if (cost < SCHEMA_COST_LIMIT / 100) return;
    this.#largest = [...this.#largest, { path, cost }].sort((left, right) => right.cost - left.cost).slice(0, 4);
  }

  /** `path` is that of the schema, `extension` the name under which rules stand in it. */
  errors(path: string, extension: string): FieldError[] {
    const what = `${extension} estimated rule cost total for entire OpenAPIv3 schema`;
    const problem = costProblem(what, this.#total, SCHEMA_COST_LIMIT);
    if (problem === undefined) return [];
    const share = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    return [...this.#largest.map((rule) => forbidden(rule.path, share)), forbidden(path, problem)];
  }
}
