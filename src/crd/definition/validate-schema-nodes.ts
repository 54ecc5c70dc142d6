/**
 * Validates every node of a CRD schema, structural or not: unsupported keywords, where defaults are allowed, and
 * combinations of extensions. Validation rules are checked here except for their compilation.
 */

import { listReporter } from '../../kinds/shared/list-reporter.js';
import type { FieldError } from '../../meta/field-error.js';
import { forbidden, invalid, keyPath, notSupported, required } from '../../meta/field-error.js';
import { asSent } from '../../schema/empty-values.js';
import type { ValidationRule } from '../../schema/json-schema.js';
import { stringSlice } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';
import { additionalSchema, type StructuralSchema } from '../structural-schema.js';
import { findField } from './field-path.js';
import { itemListGoSyntax } from './go-syntax.js';
import { type ExtensionNaming, unsupportedKeyword } from './validate-structure.js';

/** The position of a node and what it inherits from the nodes above. */
interface NodePosition {
  readonly path: string;
  readonly extensionName: ExtensionNaming;
  readonly validNodes: Set<StructuralSchema>;
  readonly isRoot: boolean;
  /** Inside `metadata`, `apiVersion` or `kind` of a resource. */
  readonly insideMeta: boolean;
  /** The reason why no default is allowed here. */
  readonly noDefaults?: string;
}

/**
 * Validates all nodes of a schema. Nodes without errors at or below them are added to `validNodes`: only their validation
 * rules can be compiled.
 */
export function schemaErrors(
  root: StructuralSchema,
  path: string,
  { extensionName, validNodes }: Pick<NodePosition, 'extensionName' | 'validNodes'>,
): FieldError[] {
  return nodeErrors(root, { path, extensionName, validNodes, isRoot: true, insideMeta: false });
}

const META_FIELDS = ['metadata', 'kind', 'apiVersion'];

function nodeErrors(node: StructuralSchema, position: NodePosition): FieldError[] {
  const { path } = position;
  const { raw } = node;
  const found = keywordErrors(node, position);
  const inside = (schema: StructuralSchema | undefined, at: string, more: Partial<NodePosition> = {}) => {
    if (schema !== undefined) append(found, nodeErrors(schema, { ...position, isRoot: false, ...more, path: at }));
  };
  const insideEach = (schemas: readonly StructuralSchema[], at: string) => {
    for (const [index, schema] of schemas.entries()) inside(schema, keyPath(at, index));
  };
  if (raw.uniqueItems === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    found.push(forbidden(`${path}.uniqueItems`, detail));
  }
  if (node.additionalProperties !== undefined) {
    const at = `${path}.additionalProperties`;
    if (node.properties.size > 0 && node.additionalProperties !== true) {
      found.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'));
    }
    const noDefaults = 'inside additionalProperties applying to object metadata';
    inside(additionalSchema(node), at, position.insideMeta ? { noDefaults } : {});
  }
  for (const [name, property] of node.properties) {
    const isMeta = (position.isRoot || node.embeddedResource) && META_FIELDS.includes(name);
    inside(property, keyPath(`${path}.properties`, name), {
      ...(isMeta ? { insideMeta: true } : {}),
      ...(isMeta && position.isRoot ? { noDefaults: `in top-level ${name}` } : {}),
    });
  }
  inside(node.not, `${path}.not`);
  insideEach(node.allOf, `${path}.allOf`);
  insideEach(node.oneOf, `${path}.oneOf`);
  insideEach(node.anyOf, `${path}.anyOf`);
  for (const [name, schema] of node.definitions) inside(schema, keyPath(`${path}.definitions`, name));
  inside(node.items, `${path}.items`);
  insideEach(node.itemList, `${path}.items`);
  for (const [name, schema] of node.dependencies) inside(schema, keyPath(`${path}.dependencies`, name));
  found.push(...extensionErrors(node, position), ...ruleErrors(node, position));
  if (found.length === 0) position.validNodes.add(node);
  return found;
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

function keywordErrors(
  node: StructuralSchema,
  { path, extensionName, insideMeta, noDefaults }: NodePosition,
): FieldError[] {
  const { raw, type } = node;
  const found: FieldError[] = [];
  if (type !== '' && !TYPES.includes(type)) found.push(notSupported(`${path}.type`, type, TYPES));
  if (raw.default !== undefined && noDefaults !== undefined) {
    found.push(forbidden(`${path}.default`, `must not be set ${noDefaults}`));
  }
  const unsupported: [string, boolean][] = [
    ['id', Boolean(raw.id)],
    ['additionalItems', raw.additionalItems !== undefined],
    ['patternProperties', raw.patternProperties !== undefined],
    ['definitions', raw.definitions !== undefined],
    ['dependencies', raw.dependencies !== undefined],
    ['$ref', raw.$ref !== undefined],
  ];
  for (const [name, given] of unsupported)
    if (given) found.push(forbidden(`${path}.${name}`, `${name} is not supported`));
  if (type === 'null') {
    found.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  }
  if (node.itemList.length > 0) {
    found.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (insideMeta && node.embeddedResource) {
    found.push(forbidden(`${path}.${extensionName('embedded-resource')}`, 'must not be used inside of resource meta'));
  }
  return found;
}

const MAP_TYPES = ['atomic', 'granular'];
const LIST_TYPES = ['atomic', 'set', 'map'];

function extensionErrors(node: StructuralSchema, { path, extensionName }: NodePosition): FieldError[] {
  const { mapType, listType, listMapKeys, type } = node;
  const found: FieldError[] = [];
  const wantType = (wanted: string, name: string) => {
    const detail = `must be ${wanted} if ${extensionName(name)} is specified`;
    found.push(type === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail));
  };
  if (node.preserveUnknownFields === false) {
    found.push(invalid(`${path}.${extensionName('preserve-unknown-fields')}`, false, 'must be true or undefined'));
  }
  if (mapType !== undefined && type !== 'object') wantType('object', 'map-type');
  if (mapType !== undefined && !MAP_TYPES.includes(mapType)) {
    found.push(notSupported(`${path}.${extensionName('map-type')}`, mapType, MAP_TYPES));
  }
  if (listType !== undefined && type !== 'array') wantType('array', 'list-type');
  else if (listType === 'set') append(found, setItemErrors(node, path, extensionName));
  const listTypePath = `${path}.${extensionName('list-type')}`;
  if (listType !== undefined && !LIST_TYPES.includes(listType)) {
    found.push(notSupported(listTypePath, listType, LIST_TYPES));
  }
  if (listMapKeys.length > 0 && listType !== 'map') {
    const detail = `must be map if ${extensionName('list-map-keys')} is non-empty`;
    found.push(listType === undefined ? required(listTypePath, detail) : invalid(listTypePath, listType, detail));
  }
  if (listType === 'map') append(found, mapListErrors(node, path, extensionName));
  return [...found, ...mergeableItemErrors(node, path, extensionName)];
}

/** Items of a set are compared as a whole, so apply must not merge them. */
function setItemErrors({ items }: StructuralSchema, path: string, extensionName: ExtensionNaming): FieldError[] {
  const detail = `must be atomic as item of a list with ${extensionName('list-type')}=set`;
  if (items?.type === 'array' && items.listType !== undefined && items.listType !== 'atomic') {
    return [invalid(`${path}.items.${extensionName('list-type')}`, items.listType, detail)];
  }
  if (items?.type === 'object' && items.mapType !== 'atomic') {
    // The reference server reports the list type here.
    // upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go ValidateCustomResourceDefinitionOpenAPISchema
    return [invalid(`${path}.items.${extensionName('map-type')}`, items.listType, detail)];
  }
  return [];
}

function mapListErrors(node: StructuralSchema, path: string, extensionName: ExtensionNaming): FieldError[] {
  const { items, listMapKeys: keys } = node;
  const isMap = `${extensionName('list-type')} is map`;
  const keysPath = `${path}.${extensionName('list-map-keys')}`;
  const found: FieldError[] = keys.length === 0 ? [required(keysPath, `must not be empty if ${isMap}`)] : [];
  if (items === undefined) {
    const at = `${path}.items`;
    found.push(
      asSent(node.raw, 'items') === undefined
        ? required(at, `must have a schema if ${isMap}`)
        : invalid(at, itemListGoSyntax(node.itemList), `must only have a single schema if ${isMap}`),
    );
    return found;
  }
  if (items.type !== 'object') {
    found.push(invalid(`${path}.items.type`, items.type, `must be object if parent array's ${isMap}`));
    return found;
  }
  const report = listReporter(keysPath, () => stringSlice(keys));
  const seen = new Set<string>();
  for (const key of keys) {
    const property = items.properties.get(key);
    if (property === undefined) {
      append(found, report('entries must all be names of item properties'));
    } else if (property.type === 'array' || property.type === 'object') {
      const at = `${keyPath(`${path}.items.properties`, key)}.type`;
      // The reference server reports the type of the items, not of the key.
      found.push(invalid(at, items.type, `must be a scalar type if parent array's ${isMap}`));
    }
    if (seen.has(key)) append(found, report('must not contain duplicate entries'));
    seen.add(key);
  }
  return found;
}

/** Items of sets and maps must not be null, and map keys must always have a value. */
function mergeableItemErrors(node: StructuralSchema, path: string, extensionName: ExtensionNaming): FieldError[] {
  const { items, listType, listMapKeys } = node;
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return [];
  const found: FieldError[] = [];
  if (items.raw.nullable === true) {
    const detail = `cannot be nullable when ${extensionName('list-type')} is ${listType}`;
    found.push(forbidden(`${path}.items.nullable`, detail));
  }
  const always = new Set(items.raw.required);
  for (const key of listType === 'map' ? listMapKeys : []) {
    const property = items.properties.get(key);
    if (property === undefined) continue;
    const at = keyPath(`${path}.items.properties`, key);
    const because = `this property is in ${extensionName('list-map-keys')}, so it`;
    if (!always.has(key) && property.raw.default === undefined) {
      found.push(required(`${at}.default`, `${because} must have a default or be a required property`));
    }
    if (property.raw.nullable === true) found.push(forbidden(`${at}.nullable`, `${because} cannot be nullable`));
  }
  return found;
}

/** The values of `reason` in a validation rule. */
export const RULE_REASONS: readonly string[] = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
];

function ruleErrors(node: StructuralSchema, { path, extensionName }: NodePosition): FieldError[] {
  const list = `${path}.${extensionName('validations')}`;
  return node.validations.flatMap((rule, index) => oneRuleErrors(node, rule, keyPath(list, index), extensionName));
}

function oneRuleErrors(
  node: StructuralSchema,
  given: ValidationRule,
  path: string,
  extensionName: ExtensionNaming,
): FieldError[] {
  const { rule, message = '', messageExpression = '', reason, fieldPath = '' } = given;
  const found = ruleTextErrors(rule.trim(), message, path);
  if (messageExpression !== '' && messageExpression.trim() === '') {
    found.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (reason !== undefined && !RULE_REASONS.includes(reason))
    found.push(notSupported(`${path}.reason`, reason, RULE_REASONS));
  const at = `${path}.fieldPath`;
  if (fieldPath !== '' && fieldPath.trim() === '') {
    found.push(invalid(at, fieldPath, 'fieldPath must be non-empty if specified'));
  }
  if (hasLineBreak(fieldPath)) found.push(invalid(at, fieldPath, 'fieldPath must not contain line breaks'));
  const isWrong = fieldPath !== '' && typeof findField(node, fieldPath, { brackets: true }) === 'string';
  // The reference server does not look for the field in a schema that it cannot convert.
  if (isWrong && unsupportedKeyword(node, extensionName) === undefined) {
    found.push(invalid(at, fieldPath, 'fieldPath must be a valid path'));
  }
  return found;
}

function ruleTextErrors(rule: string, message: string, path: string): FieldError[] {
  if (rule === '') return [required(`${path}.rule`, 'rule is not specified')];
  const at = `${path}.message`;
  const text = message.trim();
  if (message !== '' && text === '') return [invalid(at, message, 'message must be non-empty if specified')];
  if (hasLineBreak(text)) return [invalid(at, message, 'message must not contain line breaks')];
  if (hasLineBreak(rule) && text === '') {
    return [required(at, 'message must be specified if rule contains line breaks')];
  }
  return [];
}

function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text);
}
