/**
 * Checks that a schema is structural: every field has its own type, and schemas inside `allOf`, `anyOf`, `oneOf` and
 * `not` only restrict values. The errors are sorted by their text.
 */

import type { FieldError } from '../../meta/field-error.js';
import { forbidden, invalid, keyPath, printFieldError, required } from '../../meta/field-error.js';
import { sentEmptyFields } from '../../schema/empty-values.js';
import { re2Problem } from '../../text/re2/index.js';
import { append } from '../../util/arrays.js';
import { deepEqual } from '../../util/json.js';
import { additionalSchema, innerSchemas, type StructuralSchema } from '../structural-schema.js';

/** Returns the name of an extension such as `list-type` in the cluster's dialect. */
export type ExtensionNaming = (name: string) => string;

type Level = 'root' | 'items' | 'field';

/** Validates that a schema is structural. */
export function structureErrors(root: StructuralSchema, path: string, extensionName: ExtensionNaming): FieldError[] {
  const found = [
    ...nodeErrors(root, { path, extensionName, level: 'root' }),
    ...completenessErrors(root, root, path, path),
  ];
  return found
    .map((error) => ({ error, text: printFieldError(error) }))
    .sort((left, right) => (left.text < right.text ? -1 : left.text > right.text ? 1 : 0))
    .map(({ error }) => error);
}

interface StructurePosition {
  readonly path: string;
  readonly extensionName: ExtensionNaming;
  readonly level: Level;
}

const MISSING_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  items: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function nodeErrors(node: StructuralSchema, position: StructurePosition): FieldError[] {
  const { path, extensionName, level } = position;
  const found: FieldError[] = [];
  if (node.type === 'array' && node.items === undefined) found.push(required(`${path}.items`, 'must be specified'));
  if (node.items !== undefined) {
    append(found, nodeErrors(node.items, { path: `${path}.items`, extensionName, level: 'items' }));
  }
  for (const [name, property] of node.properties) {
    append(found, nodeErrors(property, { path: keyPath(`${path}.properties`, name), extensionName, level: 'field' }));
  }
  const additional = additionalSchema(node);
  if (additional !== undefined) {
    append(found, nodeErrors(additional, { path: `${path}.additionalProperties`, extensionName, level: 'field' }));
  }
  if (node.additionalProperties !== undefined && level === 'root') {
    found.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
  }
  return [
    ...found,
    ...extensionErrors(node, position),
    ...combinatorErrors(node, position, combinatorExceptionsOf(node)),
    ...typeErrors(node, position),
    ...resourceErrors(node, position),
  ];
}

function extensionErrors(node: StructuralSchema, { path, extensionName }: StructurePosition): FieldError[] {
  if (!node.intOrString) return [];
  const given = [
    node.preserveUnknownFields === true ? 'preserve-unknown-fields' : '',
    node.embeddedResource ? 'embedded-resource' : '',
  ];
  const detail = `must be false if ${extensionName('int-or-string')} is true`;
  return given.filter(Boolean).map((name) => invalid(`${path}.${extensionName(name)}`, true, detail));
}

function typeErrors(node: StructuralSchema, { path, extensionName, level }: StructurePosition): FieldError[] {
  const found: FieldError[] = [];
  const at = `${path}.type`;
  if (node.embeddedResource && node.type !== 'object') {
    const detail = `must be object if ${extensionName('embedded-resource')} is true`;
    found.push(node.type === '' ? required(at, detail) : invalid(at, node.type, detail));
  } else if (node.type === '' && !node.intOrString && node.preserveUnknownFields !== true) {
    found.push(required(at, MISSING_TYPE[level]));
  }
  if (level === 'root' && node.type !== '' && node.type !== 'object') {
    found.push(invalid(at, node.type, 'must be object at the root'));
  }
  return found;
}

/** `kind`, `apiVersion` and `metadata` have fixed types at the root and in embedded resources. */
function resourceErrors(node: StructuralSchema, { path, extensionName, level }: StructurePosition): FieldError[] {
  const found: FieldError[] = [];
  const isResource = level === 'root' || node.embeddedResource;
  const embedded = extensionName('embedded-resource');
  if (node.embeddedResource && node.additionalProperties !== undefined) {
    found.push(forbidden(`${path}.additionalProperties`, `must not be used if ${embedded} is set`));
  }
  for (const name of isResource ? ['kind', 'apiVersion'] : []) {
    const type = node.properties.get(name)?.type ?? 'string';
    if (type !== 'string') found.push(invalid(`${keyPath(`${path}.properties`, name)}.type`, type, 'must be string'));
  }
  const metadata = node.properties.get('metadata');
  if (metadata !== undefined) {
    const at = keyPath(`${path}.properties`, 'metadata');
    if (isResource && metadata.type !== 'object') found.push(invalid(`${at}.type`, metadata.type, 'must be object'));
    if (level === 'root' && !restrictsNamesOnly(metadata)) {
      const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
      found.push(forbidden(at, detail));
    }
  }
  if (node.embeddedResource && node.preserveUnknownFields !== true && node.properties.size === 0) {
    const detail = `must not be empty if ${embedded} is true without ${extensionName('preserve-unknown-fields')}`;
    found.push(required(`${path}.properties`, detail));
  }
  return found;
}

function restrictsNamesOnly({ raw, properties }: StructuralSchema): boolean {
  const names = [...properties.keys()];
  const namesOnly = names.every((name) => name === 'name' || name === 'generateName');
  // Keywords that a structural schema ignores do not restrict metadata.
  const ignored = ['type', 'default', 'externalDocs', 'example', ...(namesOnly ? ['properties'] : [])];
  return Object.keys(raw).every((keyword) => ignored.includes(keyword));
}

/** Exceptions to the rule that schemas inside combinators have no types. */
interface CombinatorExceptions {
  readonly anyOf: boolean;
  /** In the first schema of `allOf`. */
  readonly allOf: boolean;
}

/** The two usual spellings of "integer or string" are allowed to contain types, even without `int-or-string`. */
function combinatorExceptionsOf(node: StructuralSchema): CombinatorExceptions {
  return { anyOf: isIntOrString(node.anyOf), allOf: isIntOrString(node.allOf[0]?.anyOf ?? []) };
}

const NO_EXCEPTIONS: CombinatorExceptions = { anyOf: false, allOf: false };

function isIntOrString(schemas: readonly StructuralSchema[]): boolean {
  if (schemas.some(({ raw }) => sentEmptyFields(raw).some((name) => COMPARED_IF_EMPTY.test(name)))) return false;
  const rest = schemas.map(({ raw: { externalDocs: _, example: __, $ref: ___, dependencies: ____, ...raw } }) => raw);
  return deepEqual(rest, [{ type: 'integer' }, { type: 'string' }]);
}

/** The reference server compares Go values, in which these keywords are not absent if they are empty. */
const COMPARED_IF_EMPTY = /^required$|^properties$|-(list-map-keys|validations)$/;

function combinatorErrors(
  node: StructuralSchema,
  position: StructurePosition,
  exceptions: CombinatorExceptions,
): FieldError[] {
  const { path } = position;
  const found: FieldError[] = [];
  const inside = (schema: StructuralSchema, at: string, inner = NO_EXCEPTIONS) =>
    append(found, nestedErrors(schema, { ...position, path: at }, inner));
  if (!exceptions.anyOf) {
    for (const [index, schema] of node.anyOf.entries()) inside(schema, keyPath(`${path}.anyOf`, index));
  }
  for (const [index, schema] of node.allOf.entries()) {
    inside(schema, keyPath(`${path}.allOf`, index), { anyOf: exceptions.allOf && index === 0, allOf: false });
  }
  for (const [index, schema] of node.oneOf.entries()) inside(schema, keyPath(`${path}.oneOf`, index));
  if (node.not !== undefined) inside(node.not, `${path}.not`);
  const { pattern = '' } = node.raw;
  const problem = pattern === '' ? undefined : re2Problem(pattern);
  if (problem !== undefined) {
    const detail = `must be a valid regular expression, but isn't: ${problem}`;
    found.push(invalid(`${path}.pattern`, pattern, detail));
  }
  return found;
}

function nestedErrors(
  node: StructuralSchema,
  position: StructurePosition,
  exceptions: CombinatorExceptions,
): FieldError[] {
  const { path, extensionName } = position;
  const found = combinatorErrors(node, position, exceptions);
  const inside = (schema: StructuralSchema | undefined, at: string) => {
    if (schema !== undefined) append(found, nestedErrors(schema, { ...position, path: at }, NO_EXCEPTIONS));
  };
  inside(node.items, `${path}.items`);
  for (const [name, property] of node.properties) inside(property, keyPath(`${path}.properties`, name));
  const { raw } = node;
  const forbid = (present: unknown, name: string, what: 'empty' | 'undefined' | 'false') => {
    if (present) found.push(forbidden(`${path}.${name}`, `must be ${what} to be structural`));
  };
  forbid(node.type, 'type', 'empty');
  // `additionalProperties: false` is ignored here.
  forbid(node.additionalProperties, 'additionalProperties', 'undefined');
  forbid(raw.default !== undefined, 'default', 'undefined');
  forbid(raw.title, 'title', 'empty');
  forbid(raw.description, 'description', 'empty');
  forbid(raw.nullable, 'nullable', 'false');
  forbid(node.preserveUnknownFields === true, extensionName('preserve-unknown-fields'), 'false');
  forbid(node.embeddedResource, extensionName('embedded-resource'), 'false');
  forbid(node.intOrString, extensionName('int-or-string'), 'false');
  forbid(node.listMapKeys.length > 0, extensionName('list-map-keys'), 'empty');
  forbid(node.listType !== undefined, extensionName('list-type'), 'undefined');
  forbid(node.mapType !== undefined, extensionName('map-type'), 'undefined');
  forbid(node.validations.length > 0, extensionName('validations'), 'empty');
  if (node.properties.has('metadata')) {
    found.push(forbidden(keyPath(`${path}.properties`, 'metadata'), 'must not be specified in a nested context'));
  }
  return found;
}

/**
 * Every field that a combinator at the root restricts must be specified outside of it. Combinators of nested nodes
 * are not checked.
 */
function completenessErrors(
  nested: StructuralSchema,
  main: StructuralSchema,
  mainPath: string,
  path: string,
): FieldError[] {
  const found = nested.not === undefined ? [] : coveredErrors(nested.not, main, mainPath, `${path}.not`);
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, schema] of nested[name].entries()) {
      append(found, coveredErrors(schema, main, mainPath, keyPath(`${path}.${name}`, index)));
    }
  }
  return found;
}

function coveredErrors(
  nested: StructuralSchema,
  main: StructuralSchema | undefined,
  mainPath: string,
  path: string,
): FieldError[] {
  if (main === undefined) return [required(mainPath, `because it is defined in ${path}`)];
  const found = completenessErrors(nested, main, mainPath, path);
  if (nested.items !== undefined) {
    append(found, coveredErrors(nested.items, main.items, `${mainPath}.items`, `${path}.items`));
  }
  for (const [name, property] of nested.properties) {
    const [mainAt, at] = [keyPath(`${mainPath}.properties`, name), keyPath(`${path}.properties`, name)];
    append(found, coveredErrors(property, main.properties.get(name), mainAt, at));
  }
  return found;
}

/** Returns a message for the first keyword that a structural schema cannot express. */
export function unsupportedKeyword(node: StructuralSchema, extensionName: ExtensionNaming): string | undefined {
  const { raw } = node;
  const name = UNSUPPORTED_KEYWORDS.find(([, given]) => given(raw))?.[0];
  if (name !== undefined) return `OpenAPIV3Schema '${name}' is not supported`;
  if (node.preserveUnknownFields === false) {
    return `internal error: '${extensionName('preserve-unknown-fields')}' must be true or undefined`;
  }
  if (node.itemList.length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  for (const schema of innerSchemas(node)) {
    const found = unsupportedKeyword(schema, extensionName);
    if (found !== undefined) return found;
  }
  return undefined;
}

const UNSUPPORTED_KEYWORDS: readonly [string, (raw: StructuralSchema['raw']) => boolean][] = [
  ['id', ({ id }) => Boolean(id)],
  ['schema', ({ $schema }) => Boolean($schema)],
  ['$ref', ({ $ref }) => Boolean($ref)],
  ['patternProperties', ({ patternProperties }) => patternProperties !== undefined],
  ['dependencies', ({ dependencies = {} }) => Object.keys(dependencies).length > 0],
  ['additionalItems', ({ additionalItems }) => additionalItems !== undefined],
  ['definitions', ({ definitions }) => definitions !== undefined],
];
