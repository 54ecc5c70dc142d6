/**
 * The rules and schemas of a CRD before an update. Accepted expressions may keep using features that new ones may not
 * use, and in an unchanged schema the cost of each expression is not limited.
 */

import { newExpressionsEnvironment, storedExpressionsEnvironment } from '../../cel/index.js';
import type { CustomResourceDefinitionVersion } from '../../kinds/generated/apiextensions-v1.js';
import type { Dialect } from '../../meta/dialect.js';
import { deepEqual } from '../../util/json.js';
import { innerSchemas, type StructuralSchema, structuralSchemaOf } from '../structural-schema.js';
import type { EnvironmentSelector } from './compile.js';

type Version = Pick<CustomResourceDefinitionVersion, 'name' | 'schema'>;

/** The old versions of a CRD as far as validation rules depend on them. */
export class PreexistingExpressions {
  readonly environments: EnvironmentSelector;
  readonly #schemas: ReadonlyMap<string, unknown>;

  /** `before` are the old versions of the CRD; empty on create. */
  constructor(before: readonly Version[], dialect: Dialect) {
    this.#schemas = new Map(before.map(({ name, schema }) => [name, schema?.openAPIV3Schema]));
    const rules = new Set<string>();
    const messages = new Set<string>();
    for (const { schema } of before) {
      if (schema?.openAPIV3Schema === undefined) continue;
      for (const { rule, messageExpression } of rulesInside(structuralSchemaOf(schema.openAPIV3Schema, dialect))) {
        rules.add(rule);
        if (messageExpression !== undefined) messages.add(messageExpression);
      }
    }
    this.environments = {
      rule: (text) => (rules.has(text) ? storedExpressionsEnvironment() : newExpressionsEnvironment()),
      message: (text) => (messages.has(text) ? storedExpressionsEnvironment() : newExpressionsEnvironment()),
    };
  }

  /** True if a version has an unchanged schema. */
  isUnchanged({ name, schema }: Version): boolean {
    return this.#schemas.has(name) && deepEqual(this.#schemas.get(name), schema?.openAPIV3Schema);
  }
}

function* rulesInside(schema: StructuralSchema): Iterable<StructuralSchema['validations'][number]> {
  yield* schema.validations;
  for (const inner of innerSchemas(schema)) yield* rulesInside(inner);
}
