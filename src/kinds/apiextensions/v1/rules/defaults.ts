/**
 * Defaults must be what they stand in for: values of their own schema, without fields that it does not know, and
 * whole resources where resources are embedded. Rules in CEL are not run.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, invalid, keyPath, required } from '../../../../meta/field-error.js';
import { quote, verbatim } from '../../../../meta/go-text.js';
import { parseApiVersion } from '../../../../meta/gvk.js';
import { labelErrors } from '../../../../meta/labels.js';
import { dns1035LabelProblems, pathSegmentProblems } from '../../../../meta/names.js';
import { deepEqual, isRecord } from '../../../../util/json.js';
import { annotationErrors } from '../../../shared/annotations.js';
import type { SchemaView } from '../schema/schema-view.js';
import { pruned } from '../value/prune.js';
import { valueErrors } from '../value/validate.js';

const META_FIELDS = ['metadata', 'apiVersion', 'kind'];

/** What is wrong with the defaults anywhere in a structural schema. */
export function defaultErrors(root: SchemaView, path: string): FieldError[] {
  return nodeErrors({ ...root, embeddedResource: true }, path, false);
}

/** Defaults below `additionalProperties` are not looked at. */
function nodeErrors(node: SchemaView, path: string, inMeta: boolean): FieldError[] {
  const insideMeta = inMeta && !node.embeddedResource;
  const value = node.raw.default;
  const found = value === undefined ? [] : oneDefaultErrors(node, value, `${path}.default`, insideMeta);
  if (node.items !== undefined) found.push(...nodeErrors(node.items, `${path}.items`, insideMeta));
  for (const [name, property] of node.properties) {
    const isMeta = insideMeta || (node.embeddedResource && META_FIELDS.includes(name));
    found.push(...nodeErrors(property, keyPath(`${path}.properties`, name), isMeta));
  }
  return found;
}

function oneDefaultErrors(node: SchemaView, value: unknown, path: string, insideMeta: boolean): FieldError[] {
  const found: FieldError[] = [];
  if (!insideMeta && !deepEqual(pruned(value, node, node.embeddedResource), value)) {
    found.push(invalid(path, valueDump(value), 'must not have unknown fields'));
  }
  const ofResources = insideMeta ? [] : resourceErrors(value, node, path);
  return [...found, ...(ofResources.length > 0 ? ofResources : valueErrors(node, value, path))];
}

/** Resources within a value, itself included, are complete and have metadata that make sense. */
function resourceErrors(value: unknown, schema: SchemaView, path: string): FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.flatMap((item, index) => resourceErrors(item, items, keyPath(path, index)));
  }
  if (!isRecord(value)) return [];
  const found = schema.embeddedResource ? embeddedErrors(value, path) : [];
  for (const [name, property] of schema.properties) {
    if (schema.embeddedResource && META_FIELDS.includes(name)) continue;
    if (Object.hasOwn(value, name)) found.push(...resourceErrors(value[name], property, childPath(path, name)));
  }
  const { additionalProperties: additional } = schema;
  if (typeof additional !== 'object') return found;
  const others = Object.keys(value).filter((name) => !schema.properties.has(name));
  return [...found, ...others.flatMap((name) => resourceErrors(value[name], additional, keyPath(path, name)))];
}

function embeddedErrors(value: Record<string, unknown>, path: string): FieldError[] {
  const found = ['apiVersion', 'kind']
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => required(`${path}.${name}`, 'must not be empty'));
  const { apiVersion, kind, metadata } = value;
  if (apiVersion !== undefined) found.push(...textErrors(apiVersion, `${path}.apiVersion`, apiVersionProblem));
  if (kind !== undefined) found.push(...textErrors(kind, `${path}.kind`, kindProblem));
  if (isRecord(metadata)) found.push(...metadataErrors(metadata, `${path}.metadata`));
  return found;
}

function textErrors(value: unknown, path: string, problem: (text: string) => string): FieldError[] {
  if (typeof value !== 'string') return [invalid(path, valueDump(value), 'must be a string')];
  const detail = value === '' ? 'must not be empty' : problem(value);
  return detail === '' ? [] : [invalid(path, value, detail)];
}

function apiVersionProblem(text: string): string {
  return parseApiVersion(text) === undefined ? `unexpected GroupVersion string: ${text}` : '';
}

function kindProblem(text: string): string {
  const problems = dns1035LabelProblems(text.toLowerCase());
  return problems.length === 0 ? '' : `may have mixed case, but should otherwise match: ${problems.join(',')}`;
}

function metadataErrors(metadata: Record<string, unknown>, path: string): FieldError[] {
  const { name, labels, annotations } = metadata;
  const found =
    typeof name === 'string' ? pathSegmentProblems(name).map((detail) => invalid(`${path}.name`, name, detail)) : [];
  if (isTexts(labels)) found.push(...labelErrors(labels, `${path}.labels`));
  if (isTexts(annotations)) found.push(...annotationErrors(annotations, `${path}.annotations`));
  return found;
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((text) => typeof text === 'string');
}

/** Values of any shape, as the reference server prints them. */
function valueDump(value: unknown): unknown {
  if (!Array.isArray(value) && !isRecord(value)) return value;
  return verbatim(goText(value));
}

function goText(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goText).join(', ')}}`;
  if (isRecord(value)) {
    const items = Object.keys(value)
      .sort()
      .map((key) => `${quote(key)}:${goText(value[key])}`);
    return `map[string]interface {}{${items.join(', ')}}`;
  }
  if (value === null) return 'interface {}(nil)';
  return typeof value === 'string' ? quote(value) : String(value);
}
