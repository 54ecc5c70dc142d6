/**
 * The rules of a schema when it is defined: whether they compile, what they may cost, and whether there will be an old
 * value for those that look at one. Called for schemas that are sound otherwise.
 */
import type { FieldError } from '../../meta/field-error.js';
import { fieldError, forbidden, invalid, keyPath } from '../../meta/field-error.js';
import type { ValidationRule } from '../../schema/json-schema.js';
import type { Verbatim } from '../../text/go/go-text.js';
import { quote, verbatim } from '../../text/go/go-text.js';
import { additionalSchema, type SchemaView } from '../schema-view.js';
import { costProblem, placesInside, TotalCost, times } from './budget.js';
import { type CompiledRule, compileNodeRules, type Environments } from './compile-rule.js';
import { escapeName } from './escape.js';
import { type Shape, shapeOf } from './shape.js';
import { mostInRequest } from './sizes.js';

export interface DefinitionOptions {
  readonly environments: Environments;
  /** How the cluster spells `validations`. */
  readonly spell: (extension: 'validations') => string;
  /** False for nodes with other mistakes at them or below: their rules are not looked at. */
  readonly isSound: (node: SchemaView) => boolean;
  /** False for a schema that has not changed: what was accepted once is not too expensive now. */
  readonly limitsCost: boolean;
  /** False where nobody said how large things may get; what all rules may cost together is then not asked. */
  readonly limitsTotal?: boolean;
}

/** What is wrong with the rules of a schema, in the order of the reference server: from the inside out. */
export function definedRuleErrors(root: SchemaView, path: string, options: DefinitionOptions): FieldError[] {
  const check = new Check(options);
  check.node(new Place({ schema: root, path }), 1);
  const ofAll = options.limitsTotal !== false ? check.total.errors(path, options.spell('validations')) : [];
  return [...check.errors, ...ofAll];
}

interface Location {
  readonly schema: SchemaView;
  readonly path: string;
  readonly parent?: Place;
  /** Its name, where it is a property. */
  readonly name?: string;
  /** The list from which on nobody can say what an item was before. */
  readonly lostAt?: string | undefined;
}

/** A node with what leads to it. */
class Place {
  /** Rules at it or above it. */
  readonly isInScope: boolean;
  #shape: Shape | undefined;

  constructor(readonly at: Location) {
    this.isInScope = at.schema.validations.length > 0 || at.parent?.isInScope === true;
  }

  /**
   * As expressions see it. Where there are rules above, they see it as a part of what is there; a resource shows them
   * less of its metadata than a schema may say.
   */
  get shape(): Shape | undefined {
    const { schema, parent } = this.at;
    // What is inside something that expressions cannot see is out of sight as well.
    if (parent?.isInScope === true && parent.shape === undefined) return undefined;
    this.#shape ??= this.#fromAbove() ?? shapeOf(schema, parent === undefined || schema.embeddedResource);
    return this.#shape;
  }

  #fromAbove(): Shape | undefined {
    const { parent, name } = this.at;
    const above = parent?.isInScope === true ? parent.shape : undefined;
    if (above === undefined || above.kind === 'scalar') return undefined;
    if (above.kind !== 'object') return above.element;
    const escaped = name === undefined ? undefined : escapeName(name);
    return escaped === undefined ? undefined : above.fields.get(escaped);
  }
}

class Check {
  readonly errors: FieldError[] = [];
  readonly total = new TotalCost();

  constructor(readonly options: DefinitionOptions) {}

  node(place: Place, places: number | undefined): void {
    const { schema, path, lostAt } = place.at;
    const within = placesInside(schema, places);
    const inside = (inner: SchemaView, at: Omit<Location, 'schema' | 'parent'>) =>
      this.node(new Place({ lostAt, ...at, schema: inner, parent: place }), within);
    const values = additionalSchema(schema);
    if (values !== undefined) inside(values, { path: `${path}.additionalProperties` });
    for (const [name, property] of schema.properties) {
      inside(property, { path: keyPath(`${path}.properties`, name), name });
    }
    if (schema.items !== undefined) {
      const lost = lostAt ?? (schema.listType === 'map' ? undefined : path);
      inside(schema.items, { path: `${path}.items`, lostAt: lost });
    }
    if (schema.validations.length > 0 && this.options.isSound(schema)) this.#rules(place, places);
  }

  #rules(place: Place, places: number | undefined): void {
    const { shape } = place;
    const { schema, path, lostAt } = place.at;
    const extension = this.options.spell('validations');
    const list = `${path}.${extension}`;
    if (shape === undefined) {
      const why = 'unable to convert structural schema to CEL declarations';
      const detail = `internal error: failed to construct type information for ${extension} rules: ${why}`;
      this.errors.push(fieldError('internal', list, { detail }));
      return;
    }
    const times = places ?? mostInRequest(shape);
    for (const [index, rule] of compileNodeRules(schema, shape, this.options.environments).entries()) {
      this.#rule(rule, { path: keyPath(list, index), times, lostAt });
    }
  }

  #rule(compiled: CompiledRule, at: { path: string; times: number; lostAt: string | undefined }): void {
    const { rule, usesOldSelf } = compiled;
    const path = `${at.path}.rule`;
    this.#cost(path, 'estimated rule cost', times(compiled.maxCost, at.times));
    if (compiled.error !== undefined) this.errors.push(invalid(path, ruleDump(rule), compiled.error));
    const messagePath = `${at.path}.messageExpression`;
    if (compiled.messageError !== undefined) {
      this.errors.push(invalid(messagePath, ruleDump(rule), compiled.messageError));
    } else if (compiled.message !== undefined) {
      // A message is made once: the first failure that it is made for ends the request.
      this.#cost(messagePath, 'estimated messageExpression cost', compiled.messageMaxCost);
    }
    if (usesOldSelf && at.lostAt !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${at.lostAt}`;
      this.errors.push(invalid(path, rule.rule, detail));
    } else if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
      const detail = 'may not be set if oldSelf is not used in rule';
      this.errors.push(invalid(`${at.path}.optionalOldSelf`, rule.optionalOldSelf, detail));
    }
  }

  #cost(path: string, what: string, cost: number): void {
    const problem = this.options.limitsCost ? costProblem(what, cost) : undefined;
    if (problem !== undefined) this.errors.push(forbidden(path, problem));
    this.total.add(path, cost);
  }
}

function ruleDump(rule: ValidationRule): Verbatim {
  const text = (value: string | undefined) => quote(value ?? '');
  // Pointers print as addresses there, which differ from one answer to the next; they all have the same one here.
  const pointer = (type: string, value: unknown) => `(*${type})(${value === undefined ? 'nil' : '0xc000000000'})`;
  const fields = [
    `Rule:${text(rule.rule)}`,
    `Message:${text(rule.message)}`,
    `MessageExpression:${text(rule.messageExpression)}`,
    `Reason:${pointer('apiextensions.FieldValueErrorReason', rule.reason)}`,
    `FieldPath:${text(rule.fieldPath)}`,
    `OptionalOldSelf:${pointer('bool', rule.optionalOldSelf)}`,
  ];
  return verbatim(`apiextensions.ValidationRule{${fields.join(', ')}}`);
}
