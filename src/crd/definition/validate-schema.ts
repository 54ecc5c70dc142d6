/**
 * Validates the schema of a CRD version: keywords at the root, structure, defaults, nodes and validation rules.
 */

import { storedEnvironment } from '../../cel/index.js';
import type { Dialect } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { forbidden, invalid, keyPath, printFieldError } from '../../meta/field-error.js';
import type { MutableRecord } from '../../util/json.js';
import { copyJson, deepEqual, setOwn } from '../../util/json.js';
import { compileRules } from '../rules/compile.js';
import { REQUEST_BUDGET, ruleErrors } from '../rules/evaluate.js';
import type { RuleHistory } from '../rules/history.js';
import { Before } from '../rules/ratcheting.js';
import { definedRuleErrors } from '../rules/validate-rules.js';
import { type SchemaView, schemaView } from '../schema-view.js';
import { Twin } from '../value/correlated-object.js';
import { hasDefault } from '../value/defaults.js';
import { coerceEmbedded, embeddedErrors } from '../value/embedded-resources.js';
import { shownValue } from '../value/json-kind.js';
import { pruneUnknown } from '../value/prune.js';
import { validateValue } from '../value/validate.js';
import { schemaDump } from './go-syntax.js';
import type { CustomResourceValidation } from './types.js';
import { schemaErrors } from './validate-schema-nodes.js';
import { structureErrors, unsupportedKeyword } from './validate-structure.js';

const META_FIELDS = ['metadata', 'apiVersion', 'kind'];

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

/** Evaluates the CEL validation rules of a schema for a default that is otherwise valid. */
type DefaultRules = (schema: SchemaView, value: unknown, path: string) => readonly FieldError[];

/** Validates all defaults in a structural schema. */
export function defaultErrors(root: SchemaView, path: string, rules: DefaultRules): FieldError[] {
  const resource = { ...root, embeddedResource: true };
  return nodeErrors(resource, { path, resource, steps: [], insideMeta: false, rules });
}

/** The position of a schema node during the walk. */
interface Place {
  readonly path: string;
  /**
   * The nearest enclosing resource (possibly the node itself), and the steps from there; `undefined` stands for list
   * items.
   */
  readonly resource: SchemaView;
  readonly steps: readonly (string | undefined)[];
  readonly insideMeta: boolean;
  readonly rules: DefaultRules;
}

/** Defaults below `additionalProperties` are not validated, as in the reference server. */
function nodeErrors(node: SchemaView, given: Place): FieldError[] {
  const place = node.embeddedResource ? { ...given, resource: node, steps: [], insideMeta: false } : given;
  const { path, steps } = place;
  const found = hasDefault(node) ? oneDefaultErrors(node, node.raw.default, { ...place, path: `${path}.default` }) : [];
  if (node.items !== undefined) {
    found.push(...nodeErrors(node.items, { ...place, path: `${path}.items`, steps: [...steps, undefined] }));
  }
  for (const [name, property] of node.properties) {
    const insideMeta = place.insideMeta || (node.embeddedResource && META_FIELDS.includes(name));
    const at = keyPath(`${path}.properties`, name);
    found.push(...nodeErrors(property, { ...place, path: at, steps: [...steps, name], insideMeta }));
  }
  return found;
}

function oneDefaultErrors(node: SchemaView, value: unknown, place: Place): FieldError[] {
  return place.insideMeta ? metaDefaultErrors(node, value, place) : bodyDefaultErrors(node, value, place);
}

function metaDefaultErrors(node: SchemaView, value: unknown, place: Place): FieldError[] {
  const { path, resource } = place;
  const object = around(copyJson(value), place.steps);
  const { error } = coerceEmbedded(resource, object, { isResource: true });
  const problems = error === undefined ? embeddedErrors(resource, object, { isResource: true }) : [error];
  if (problems.length === 0) return valueErrors(node, value, place);
  const texts = problems.map(printFieldError);
  const shown = texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
  return [invalid(path, shownValue(value), `must result in valid metadata: ${shown}`)];
}

/** Builds a complete resource with the value at the end of the given steps. */
function around(value: unknown, steps: readonly (string | undefined)[]): MutableRecord {
  const inner = steps.reduceRight<unknown>((part, step) => {
    if (step === undefined) return [part];
    const holder: MutableRecord = {};
    setOwn(holder, step, part);
    return holder;
  }, value);
  return { kind: 'Validation', apiVersion: 'validation/v1', ...(inner as MutableRecord) };
}

function bodyDefaultErrors(node: SchemaView, given: unknown, place: Place): FieldError[] {
  const { path } = place;
  const value = copyJson(given);
  const isResource = node.embeddedResource;
  const pruned = copyJson(given);
  pruneUnknown(node, pruned, { isResource });
  const { error } = coerceEmbedded(node, value, { base: path, isResource });
  // The message shows the value after coercion, without unknown metadata fields.
  const found = deepEqual(pruned, given) ? [] : [invalid(path, shownValue(value), 'must not have unknown fields')];
  if (error !== undefined) return [...found, error];
  const ofResources = embeddedErrors(node, value, { base: path, isResource });
  return [...found, ...(ofResources.length > 0 ? ofResources : valueErrors(node, value, place))];
}

function valueErrors(node: SchemaView, value: unknown, { path, rules }: Place): FieldError[] {
  const found = validateValue(node, value, { base: path, purpose: 'defaults' });
  return found.length > 0 ? found : [...rules(node, value, path)];
}
