/**
 * Embedded resources (`x-kubernetes-embedded-resource`) in custom resources. Their metadata are decoded like those of
 * any object: unknown fields are pruned, and values of the wrong type are rejected, or dropped if the object comes from
 * storage. Then the metadata are validated.
 */

import { annotationErrors } from '../../kinds/shared/annotations.js';
import { finalizerErrors, managerEntryErrors, ownerErrors } from '../../kinds/shared/metadata-errors.js';
import { objectMetaNode } from '../../kinds/shared/object-meta.js';
import type { FieldError } from '../../meta/field-error.js';
import { childPath, invalid, keyPath, required } from '../../meta/field-error.js';
import { parseApiVersion } from '../../meta/gvk.js';
import { labelErrors } from '../../meta/labels.js';
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  pathSegmentPrefixProblems,
  pathSegmentProblems,
} from '../../meta/names.js';
import type { DeepReadonly, ObjectMeta } from '../../meta/object.js';
import { decode } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-scalar.js';
import { compareUtf8 } from '../../text/go/go-value.js';
import { append } from '../../util/arrays.js';
import { BoundedTexts } from '../../util/bounded-texts.js';
import type { MutableRecord } from '../../util/json.js';
import { isRecord, setOwn } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { additionalSchema, memberSchemas, type StructuralSchema } from '../structural-schema.js';
import { printableValue } from './json-kind.js';
import { inWireOrder } from './wire-order.js';

/** Options for the value that contains embedded resources. */
export interface EmbeddedOptions {
  /** The path of the value; `''` for a whole object. */
  readonly base?: string;
  /** The value itself is a resource, whatever its schema says. */
  readonly isResource?: boolean;
}

/** Options of coercion. */
export interface CoerceOptions extends EmbeddedOptions {
  /** Drop malformed values instead of reporting an error. */
  readonly dropMalformed?: boolean;
}

/** The result of coercion. */
export interface Coerced {
  /** The sorted paths of unknown metadata fields. */
  readonly unknown: readonly string[];
  /** The first value that cannot be decoded; the draft is then unusable. */
  readonly error?: FieldError;
}

/** Decodes the metadata of embedded resources in place. */
export function coerceEmbeddedResources(
  schema: StructuralSchema,
  draft: unknown,
  options: CoerceOptions = {},
): Coerced {
  if (!options.isResource && !hasEmbeddedResources(schema)) return NOTHING_COERCED;
  const unknown = new BoundedTexts();
  const drop = options.dropMalformed === true;
  let error: FieldError | undefined;
  visitEmbedded(schema, draft, options, (resource, path) => {
    error ??= coerceResource(resource, path, { drop, unknown });
  });
  return { unknown: unknown.texts.sort(compareUtf8), ...(error === undefined ? {} : { error }) };
}

const NOTHING_COERCED: Coerced = Object.freeze({ unknown: Object.freeze([]) });

/** Validates embedded resources. */
export function embeddedResourceErrors(
  schema: StructuralSchema,
  value: unknown,
  options: EmbeddedOptions = {},
): FieldError[] {
  if (!options.isResource && !hasEmbeddedResources(schema)) return [];
  const found: FieldError[] = [];
  visitEmbedded(schema, value, options, (resource, path) => found.push(...resourceErrors(resource, path)));
  return found;
}

const embeddedCache = new WeakMap<StructuralSchema, boolean>();

/** True if a schema has an embedded resource at or below it. Objects of other schemas are not walked. */
export function hasEmbeddedResources(schema: StructuralSchema): boolean {
  return getOrInsertComputed(
    embeddedCache,
    schema,
    (one) => one.embeddedResource || memberSchemas(one).some(hasEmbeddedResources),
  );
}

type Visitor = (resource: MutableRecord, path: string) => void;

/** Visits an outer resource before those inside it, and fields in the order of their names. */
function visitEmbedded(schema: StructuralSchema, value: unknown, options: EmbeddedOptions, visit: Visitor): void {
  const { base = '', isResource = false } = options;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined || !hasEmbeddedResources(items)) return;
    for (const [index, item] of value.entries()) visitEmbedded(items, item, { base: keyPath(base, index) }, visit);
    return;
  }
  if (!isRecord(value)) return;
  if (isResource || schema.embeddedResource) visit(value, base);
  const additional = additionalSchema(schema);
  for (const key of Object.keys(value).sort(compareUtf8)) {
    const property = schema.properties.get(key);
    const inner = property ?? additional;
    if (inner === undefined || !hasEmbeddedResources(inner)) continue;
    const path = property === undefined ? keyPath(base, key) : childPath(base, key);
    visitEmbedded(inner, value[key], { base: path }, visit);
  }
}

function coerceResource(
  resource: MutableRecord,
  path: string,
  { drop, unknown }: { readonly drop: boolean; readonly unknown: BoundedTexts },
): FieldError | undefined {
  for (const name of ['apiVersion', 'kind']) {
    const value = resource[name];
    if (!Object.hasOwn(resource, name) || typeof value === 'string') continue;
    if (!drop) return invalid(childPath(path, name), printableValue(value), 'must be a string');
    delete resource[name];
  }
  if (!Object.hasOwn(resource, 'metadata')) return undefined;
  const at = childPath(path, 'metadata');
  const read = decodeMetadataFields(resource['metadata'], drop);
  if (typeof read === 'string') {
    return drop ? undefined : invalid(at, printableValue(resource['metadata']), read);
  }
  for (const field of read.unknown) if (!unknown.isFull) unknown.add(`${at}.${field}`);
  resource['metadata'] = read.metadata;
  return undefined;
}

interface ReadMetadata {
  readonly metadata: MutableRecord;
  readonly unknown: readonly string[];
}

/** Decodes metadata as for any object, or returns the error message. */
function decodeMetadataFields(value: unknown, drop: boolean): ReadMetadata | string {
  const read = decodeMetadata(value ?? {});
  if (typeof read !== 'string' || !isRecord(value)) return read;
  // On an error decode field by field, in the order of their names: report the first malformed field, or drop all of
  // them.
  const metadata: MutableRecord = {};
  const unknown: string[] = [];
  for (const key of Object.keys(value).sort(compareUtf8)) {
    const one = decodeMetadata({ [key]: value[key] });
    if (typeof one === 'string') {
      if (drop) continue;
      return one;
    }
    append(unknown, one.unknown);
    for (const name of Object.keys(one.metadata)) setOwn(metadata, name, one.metadata[name]);
  }
  return { metadata: inWireOrder(metadata), unknown };
}

const UNKNOWN_FIELD = 'unknown field "';

function decodeMetadata(value: unknown): ReadMetadata | string {
  try {
    const { value: metadata, findings } = decode(objectMetaNode(), { value });
    // A null creationTimestamp is the zero time, which means absent.
    if (metadata['creationTimestamp'] === null) delete metadata['creationTimestamp'];
    const unknown = findings
      .filter((text) => text.startsWith(UNKNOWN_FIELD))
      .map((text) => text.slice(UNKNOWN_FIELD.length, -1));
    return { metadata: inWireOrder(metadata), unknown };
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

function resourceErrors(resource: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  const found = ['apiVersion', 'kind']
    .filter((name) => !Object.hasOwn(resource, name))
    .map((name) => required(childPath(path, name), 'must not be empty'));
  append(found, textErrors(resource, 'apiVersion', path, apiVersionProblem));
  append(found, textErrors(resource, 'kind', path, kindProblem));
  if (!Object.hasOwn(resource, 'metadata')) return found;
  const at = childPath(path, 'metadata');
  const read = decodeMetadataFields(resource['metadata'], false);
  if (typeof read === 'string') return [...found, invalid(at, printableValue(resource['metadata']), read)];
  return [...found, ...objectMetaErrors(read.metadata, at)];
}

function textErrors(
  resource: Readonly<Record<string, unknown>>,
  name: string,
  path: string,
  problem: (text: string) => string,
): FieldError[] {
  if (!Object.hasOwn(resource, name)) return [];
  const value = resource[name];
  const at = childPath(path, name);
  if (typeof value !== 'string') return [invalid(at, printableValue(value), 'must be a string')];
  const detail = value === '' ? 'must not be empty' : problem(value);
  return detail === '' ? [] : [invalid(at, value, detail)];
}

function apiVersionProblem(text: string): string {
  return parseApiVersion(text) === undefined ? `unexpected GroupVersion string: ${text}` : '';
}

function kindProblem(text: string): string {
  const problems = dns1035LabelProblems(text.toLowerCase());
  return problems.length === 0 ? '' : `may have mixed case, but should otherwise match: ${problems.join(',')}`;
}

type Meta = DeepReadonly<Partial<ObjectMeta>>;

function objectMetaErrors(metadata: Meta, path: string): FieldError[] {
  const { name = '', generateName = '', namespace = '', generation = 0 } = metadata;
  const each = (field: string, value: string, problems: readonly string[]) =>
    problems.map((detail) => invalid(`${path}.${field}`, value, detail));
  return [
    ...each('generateName', generateName, generateName === '' ? [] : pathSegmentPrefixProblems(generateName)),
    ...each('name', name, name === '' ? [] : pathSegmentProblems(name)),
    ...each('namespace', namespace, namespace === '' ? [] : dnsLabelProblems(namespace)),
    ...(generation < 0 ? [invalid(`${path}.generation`, generation, 'must be greater than or equal to 0')] : []),
    ...labelErrors(metadata.labels ?? {}, `${path}.labels`),
    ...annotationErrors(metadata.annotations ?? {}, `${path}.annotations`),
    ...ownerErrors(metadata.ownerReferences ?? [], `${path}.ownerReferences`),
    ...finalizerErrors(metadata.finalizers ?? [], `${path}.finalizers`),
    ...managerErrors(metadata.managedFields ?? [], `${path}.managedFields`),
  ];
}

function managerErrors(entries: NonNullable<Meta['managedFields']>, path: string): FieldError[] {
  return entries.flatMap((entry, index) => {
    const { operation, fieldsType = '' } = entry;
    const at = keyPath(path, index);
    const found: FieldError[] = [];
    if (operation !== 'Apply' && operation !== 'Update') {
      found.push(invalid(`${at}.operation`, operation ?? '', 'must be `Apply` or `Update`'));
    }
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      found.push(invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
    }
    return [...found, ...managerEntryErrors(entry, path, index)];
  });
}
