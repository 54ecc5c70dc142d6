/**
 * Validates the schema of a CRD version: keywords at the root, structure, defaults, nodes and validation rules. A
 * default must be valid for its own schema, without unknown fields, and a complete resource where a resource is
 * embedded; inside metadata it must result in valid metadata.
 */

import type { CustomResourceValidation } from '../../kinds/generated/apiextensions-v1.js';
import type { Dialect } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { aggregateText, forbidden, invalid, keyPath, printFieldError } from '../../meta/field-error.js';
import { sentEmptyFields } from '../../schema/empty-values.js';
import { append } from '../../util/arrays.js';
import type { MutableRecord } from '../../util/json.js';
import { copyJson, deepEqual, setOwn } from '../../util/json.js';
import { compileRules } from '../rules/compile.js';
import { evaluateRules, RUNTIME_CEL_COST_BUDGET } from '../rules/evaluate.js';
import { OldValueContext } from '../rules/old-value-context.js';
import type { PreexistingExpressions } from '../rules/preexisting-expressions.js';
import { validateRules } from '../rules/validate-rules.js';
import { type StructuralSchema, structuralSchemaOf } from '../structural-schema.js';
import { CorrelatedObject } from '../value/correlated-object.js';
import { hasDefault } from '../value/defaults.js';
import { coerceEmbeddedResources, embeddedResourceErrors } from '../value/embedded-resources.js';
import { printableValue } from '../value/json-kind.js';
import { pruneUnknown } from '../value/prune.js';
import { validateValue } from '../value/validate.js';
import { schemaGoSyntax } from './go-syntax.js';
import { schemaErrors } from './validate-schema-nodes.js';
import { structureErrors, unsupportedKeyword } from './validate-structure.js';

/** The parts of a CRD that the validation of a schema depends on. */
export interface CrdSchemaContext {
  readonly dialect: Dialect;
  readonly hasStatus: boolean;
  /** The validation rules of the CRD before the update. */
  readonly preexisting: PreexistingExpressions;
  /** True if the update does not change this schema. */
  readonly isUnchanged: boolean;
}

/** Validates the schema of one version, or the schema that all versions share. */
export function versionSchemaErrors(
  given: CustomResourceValidation | undefined,
  at: string,
  context: CrdSchemaContext,
): FieldError[] {
  if (given?.openAPIV3Schema === undefined) return [];
  const { dialect, hasStatus, preexisting, isUnchanged } = context;
  const path = `${at}.openAPIV3Schema`;
  const root = structuralSchemaOf(given.openAPIV3Schema, dialect);
  const found = hasStatus ? statusRootErrors(root, path, dialect) : [];
  if (root.raw.nullable === true) found.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const unsupported = unsupportedKeyword(root, dialect.extension);
  let validatesRules = false;
  if (unsupported === undefined) {
    const structure = structureErrors(root, path, dialect.extension);
    // Defaults are validated only if the schema is structural, and rules only if the defaults are valid.
    const ofValues = structure.length > 0 ? structure : defaultErrors(root, path, defaultRuleEvaluator());
    validatesRules = ofValues.length === 0;
    append(found, ofValues);
  }
  const validNodes = new Set<StructuralSchema>();
  const ofNodes = schemaErrors(root, path, { extensionName: dialect.extension, validNodes });
  // An unsupported keyword usually already has its own error.
  const isAllFine = found.length === 0 && ofNodes.length === 0;
  if (unsupported !== undefined && isAllFine) return [invalid(path, '', unsupported)];
  if (!validatesRules) return [...found, ...ofNodes];
  const ofRules = validateRules(root, path, {
    environments: preexisting.environments,
    extensionName: dialect.extension,
    isValidNode: (node) => validNodes.has(node),
    limitsCostPerExpression: !isUnchanged,
  });
  return [...found, ...ofNodes, ...ofRules];
}

/** The keywords that are allowed at the root of a schema with a status subresource, by their Go field names. */
const ROOT_KEYWORDS_WITH_STATUS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';

function statusRootErrors(root: StructuralSchema, path: string, dialect: Dialect): FieldError[] {
  const allowed = new Set(
    ROOT_KEYWORDS_WITH_STATUS.split(' ').map((name) =>
      name.startsWith('X') ? dialect.extension(kebab(name.slice(1))) : name.charAt(0).toLowerCase() + name.slice(1),
    ),
  );
  if (root.type !== '' && root.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalid(`${path}.type`, root.type, detail)];
  }
  // The reference server also rejects an empty list or map.
  const given = [...Object.keys(root.raw), ...sentEmptyFields(root.raw)];
  if (given.every((keyword) => allowed.has(keyword))) return [];
  const detail = `only [${ROOT_KEYWORDS_WITH_STATUS}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(path, schemaGoSyntax(root), detail)];
}

function kebab(name: string): string {
  return name.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

/**
 * Returns a function that evaluates the validation rules for one default after the other. All defaults of a schema
 * share the cost budget of one request; when it is used up, further defaults are not evaluated.
 */
function defaultRuleEvaluator(): (schema: StructuralSchema, value: unknown, path: string) => readonly FieldError[] {
  let budget = RUNTIME_CEL_COST_BUDGET;
  return (schema, value, path) => {
    // Negative: an evaluation was stopped.
    if (budget < 0) return [];
    const rules = compileRules(schema, schema.embeddedResource);
    if (rules === undefined) return [];
    const asUpdate = evaluateRules(
      rules,
      value,
      OldValueContext.of(new CorrelatedObject(schema, value, value), false),
      { path, budget },
    );
    if (asUpdate.errors.length > 0) {
      budget = asUpdate.remainingBudget;
      return asUpdate.errors;
    }
    const asCreate = evaluateRules(rules, value, OldValueContext.NONE, { path, budget });
    budget = Math.min(asUpdate.remainingBudget, asCreate.remainingBudget);
    return asCreate.errors;
  };
}

/** Evaluates the CEL validation rules of a schema for a default that is otherwise valid. */
type EvaluateDefaultRules = (schema: StructuralSchema, value: unknown, path: string) => readonly FieldError[];

/** Validates all defaults in a structural schema. */
export function defaultErrors(
  root: StructuralSchema,
  path: string,
  evaluateDefaultRules: EvaluateDefaultRules,
): FieldError[] {
  const resource = { ...root, embeddedResource: true };
  return nodeDefaultErrors(resource, { path, resource, steps: [], insideMeta: false, evaluateDefaultRules });
}

/** The position of a schema node during the walk. */
interface DefaultPosition {
  readonly path: string;
  /**
   * The nearest enclosing resource (possibly the node itself), and the steps from there; `undefined` stands for list
   * items.
   */
  readonly resource: StructuralSchema;
  readonly steps: readonly (string | undefined)[];
  readonly insideMeta: boolean;
  readonly evaluateDefaultRules: EvaluateDefaultRules;
}

const META_FIELDS = ['metadata', 'apiVersion', 'kind'];

/**
 * Defaults below `additionalProperties` are not validated, as in the reference server.
 * upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go validate
 */
function nodeDefaultErrors(node: StructuralSchema, given: DefaultPosition): FieldError[] {
  const position = node.embeddedResource ? { ...given, resource: node, steps: [], insideMeta: false } : given;
  const { path, steps } = position;
  const found = hasDefault(node)
    ? oneDefaultErrors(node, node.raw.default, { ...position, path: `${path}.default` })
    : [];
  if (node.items !== undefined) {
    append(found, nodeDefaultErrors(node.items, { ...position, path: `${path}.items`, steps: [...steps, undefined] }));
  }
  for (const [name, property] of node.properties) {
    const insideMeta = position.insideMeta || (node.embeddedResource && META_FIELDS.includes(name));
    const at = keyPath(`${path}.properties`, name);
    append(found, nodeDefaultErrors(property, { ...position, path: at, steps: [...steps, name], insideMeta }));
  }
  return found;
}

function oneDefaultErrors(node: StructuralSchema, value: unknown, position: DefaultPosition): FieldError[] {
  return position.insideMeta ? metaDefaultErrors(node, value, position) : bodyDefaultErrors(node, value, position);
}

function metaDefaultErrors(node: StructuralSchema, value: unknown, position: DefaultPosition): FieldError[] {
  const { path, resource } = position;
  const object = wrapInResource(copyJson(value), position.steps);
  const { error } = coerceEmbeddedResources(resource, object, { isResource: true });
  const problems = error === undefined ? embeddedResourceErrors(resource, object, { isResource: true }) : [error];
  if (problems.length === 0) return valueErrors(node, value, position);
  const shown = aggregateText(problems.map(printFieldError));
  return [invalid(path, printableValue(value), `must result in valid metadata: ${shown}`)];
}

/** Builds a complete resource with the value at the end of the given steps. */
function wrapInResource(value: unknown, steps: readonly (string | undefined)[]): MutableRecord {
  const inner = steps.reduceRight<unknown>((part, step) => {
    if (step === undefined) return [part];
    const holder: MutableRecord = {};
    setOwn(holder, step, part);
    return holder;
  }, value);
  return { kind: 'Validation', apiVersion: 'validation/v1', ...(inner as MutableRecord) };
}

function bodyDefaultErrors(node: StructuralSchema, given: unknown, position: DefaultPosition): FieldError[] {
  const { path } = position;
  const value = copyJson(given);
  const isResource = node.embeddedResource;
  const pruned = copyJson(given);
  pruneUnknown(node, pruned, { isResource });
  const { error } = coerceEmbeddedResources(node, value, { base: path, isResource });
  // The message shows the value after coercion, without unknown metadata fields.
  const found = deepEqual(pruned, given) ? [] : [invalid(path, printableValue(value), 'must not have unknown fields')];
  if (error !== undefined) return [...found, error];
  const ofResources = embeddedResourceErrors(node, value, { base: path, isResource });
  return [...found, ...(ofResources.length > 0 ? ofResources : valueErrors(node, value, position))];
}

function valueErrors(
  node: StructuralSchema,
  value: unknown,
  { path, evaluateDefaultRules }: DefaultPosition,
): FieldError[] {
  const found = validateValue(node, value, { base: path, purpose: 'defaults' });
  return found.length > 0 ? found : [...evaluateDefaultRules(node, value, path)];
}
