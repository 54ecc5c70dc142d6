/**
 * Validates the schema of a CRD version: keywords at the root, structure, defaults, nodes and validation rules.
 */

import { storedEnvironment } from '../../cel/index.js';
import type { Dialect } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { forbidden, invalid } from '../../meta/field-error.js';
import { Before } from '../rules/before.js';
import { compileRules } from '../rules/compile.js';
import { definedRuleErrors } from '../rules/definition.js';
import { REQUEST_BUDGET, ruleErrors } from '../rules/evaluate.js';
import type { RuleHistory } from '../rules/history.js';
import { type SchemaView, schemaView } from '../schema-view.js';
import { Twin } from '../value/twin.js';
import { defaultErrors } from './defaults.js';
import { schemaDump } from './dump.js';
import { schemaErrors } from './node.js';
import type { CustomResourceValidation } from './schema.js';
import { structureErrors, unsupportedKeyword } from './structure.js';

export interface SchemaContext {
  readonly dialect: Dialect;
  readonly hasStatus: boolean;
  /** The validation rules of the CRD before the update. */
  readonly history: RuleHistory;
  /** True if the update does not change this schema. */
  readonly isUnchanged: boolean;
}

export function rootSchemaErrors(
  given: CustomResourceValidation | undefined,
  at: string,
  about: SchemaContext,
): FieldError[] {
  if (given?.openAPIV3Schema === undefined) return [];
  const { dialect, hasStatus, history, isUnchanged } = about;
  const path = `${at}.openAPIV3Schema`;
  const root = schemaView(given.openAPIV3Schema, dialect);
  const found = hasStatus ? statusRootErrors(root, path, dialect) : [];
  if (root.raw.nullable === true) found.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const unsupported = unsupportedKeyword(root, dialect.extension);
  let judgesRules = false;
  if (unsupported === undefined) {
    const structure = structureErrors(root, path, dialect.extension);
    // Defaults are validated only if the schema is structural, and rules only if the defaults are valid.
    const ofValues = structure.length > 0 ? structure : defaultErrors(root, path, defaultRules());
    judgesRules = ofValues.length === 0;
    found.push(...ofValues);
  }
  const sound = new Set<SchemaView>();
  const ofNodes = schemaErrors(root, path, { spell: dialect.extension, sound });
  // An unsupported keyword usually already has its own error.
  const isAllFine = found.length === 0 && ofNodes.length === 0;
  if (unsupported !== undefined && isAllFine) return [invalid(path, '', unsupported)];
  if (!judgesRules) return [...found, ...ofNodes];
  const ofRules = definedRuleErrors(root, path, {
    environments: history.environments,
    spell: dialect.extension,
    isSound: (node) => sound.has(node),
    limitsCost: !isUnchanged,
  });
  return [...found, ...ofNodes, ...ofRules];
}

/** The keywords that are allowed at the root of a schema with a status subresource, by their Go field names. */
const BESIDE_STATUS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';

function statusRootErrors(root: SchemaView, path: string, dialect: Dialect): FieldError[] {
  const allowed = new Set(
    BESIDE_STATUS.split(' ').map((name) =>
      name.startsWith('X') ? dialect.extension(kebab(name.slice(1))) : name.charAt(0).toLowerCase() + name.slice(1),
    ),
  );
  if (root.type !== '' && root.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalid(`${path}.type`, root.type, detail)];
  }
  if (Object.keys(root.raw).every((keyword) => allowed.has(keyword))) return [];
  const detail = `only [${BESIDE_STATUS}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(path, schemaDump(root), detail)];
}

function kebab(name: string): string {
  return name.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

/**
 * Returns a function that evaluates the validation rules for one default after the other. All defaults of a schema
 * share the cost budget of one request; when it is used up, further defaults are not evaluated.
 */
function defaultRules(): (schema: SchemaView, value: unknown, path: string) => readonly FieldError[] {
  let budget = REQUEST_BUDGET;
  return (schema, value, path) => {
    if (budget < 0) return [];
    const rules = compileRules(schema, schema.embeddedResource, {
      rule: storedEnvironment,
      message: storedEnvironment,
    });
    if (rules === undefined) return [];
    const kept = ruleErrors(rules, value, Before.of(new Twin(schema, value, value), false), { path, budget });
    if (kept.errors.length > 0) {
      budget = kept.budgetLeft;
      return kept.errors;
    }
    const added = ruleErrors(rules, value, Before.NOTHING, { path, budget });
    budget = Math.min(kept.budgetLeft, added.budgetLeft);
    return added.errors;
  };
}
