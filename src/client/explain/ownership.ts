/**
 * Explains field ownership: the managers of each field, derived from `managedFields`.
 */
import type { Kind } from '../../kinds/kind.js';
import { difference, EMPTY_SET, hasChildren, printPath } from '../../merge/apply/field-set.js';
import { fieldsOfObject } from '../../merge/apply/intent-fields.js';
import { type Manager, readManagers } from '../../merge/apply/managers.js';
import { UNTRACKED } from '../../merge/apply/schema-sets.js';
import type { Dialect } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';
import { schemaInDialect } from '../../schema/in-dialect.js';
import type { ObjectNode } from '../../schema/schema-node.js';
import { deepFreeze } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { Endpoint } from '../endpoint.js';
import type { GetOptions } from '../options.js';
import { sendGet } from '../requests.js';
import { FieldReader, hasPath, INSPECT, nodeAt, type Path, printRows, printValue, walkPaths } from './field-values.js';

/** A field manager, as an owner of fields. */
export interface FieldOwner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** The apiVersion that it used. */
  readonly apiVersion: string;
  /** The subresource that it wrote to: `status`, `scale`. */
  readonly subresource?: string;
  /** When it last changed the object; absent when it only applied existing values. */
  readonly since?: string;
}

/** A field, its value and its owners. */
export interface OwnedField {
  /** As in the server's messages: `.spec.containers[name="web"].image`. */
  readonly path: string;
  readonly value: unknown;
  /** Empty: a default, or a value that the server set. */
  readonly owners: readonly FieldOwner[];
}

/** The field ownership of an object. Prints as a table. */
export interface Ownership {
  /** In the order of `metadata.managedFields`. */
  readonly managers: readonly FieldOwner[];
  /** All ownable fields in order, owned or not. */
  readonly fields: readonly OwnedField[];
  /**
   * The owners of a path: a field, a list item, or a path inside a field that is owned as a whole. Empty for a path
   * that does not exist. Throws TypeError for an invalid path: paths begin with a dot and identify list items by key.
   *
   * @example
   * (await configMaps.explain('settings')).ownersOf('.data.colour');
   */
  ownersOf(path: string): readonly FieldOwner[];
  toString(): string;
}

/** Reads an object and explains its field ownership. */
export async function explainObject(endpoint: Endpoint, name: string, options?: GetOptions): Promise<Ownership> {
  const object = await sendGet<ApiObject>(endpoint, name, options);
  return ownershipOf(endpoint.kind, object, endpoint.config.transport.dialect);
}

/** Explains the field ownership of an object. */
export function ownershipOf(kind: Kind, object: ApiObject, dialect: Dialect): Ownership {
  return new ExplainedObject(schemaInDialect(kind.schema, dialect), object);
}

/** The owner that a managedFields entry describes. */
export function ownerOf({ manager, operation, apiVersion, subresource, time }: Manager): FieldOwner {
  return {
    manager,
    operation,
    apiVersion,
    ...(subresource === '' ? {} : { subresource }),
    ...(time === undefined ? {} : { since: time }),
  };
}

/** Formats an owner: `ci (Apply, since 2026-01-01T00:00:00Z)`. */
export function printOwner({ manager, operation, subresource, since }: FieldOwner): string {
  const how = subresource === undefined ? operation : `${operation} of ${subresource}`;
  return `${manager} (${how}${since === undefined ? '' : `, since ${since}`})`;
}

class ExplainedObject implements Ownership {
  readonly managers: readonly FieldOwner[];
  readonly fields: readonly OwnedField[];
  /** Owners by path, including maps and items that have fields of their own. */
  readonly #owners = new Map<string, FieldOwner[]>();

  constructor(schema: ObjectNode, object: ApiObject) {
    const managers = [...readManagers(object.metadata.managedFields).values()];
    this.managers = deepFreeze(managers.map(ownerOf));
    for (const manager of managers) this.#addOwner(manager);
    const reader = new FieldReader(schema, object);
    this.fields = Object.freeze(
      fieldPaths(schema, object, managers).map((path) =>
        Object.freeze({
          path: printPath(path),
          value: reader.at(path),
          owners: Object.freeze(managers.filter(({ fields }) => hasPath(fields, path)).map(ownerOf)),
        }),
      ),
    );
  }

  #addOwner(manager: Manager): void {
    for (const path of walkPaths(manager.fields, 'members')) {
      getOrInsertComputed(this.#owners, printPath(path), () => []).push(ownerOf(manager));
    }
  }

  ownersOf(path: string): readonly FieldOwner[] {
    if (!path.startsWith('.')) throw invalidPath(path, 'a path begins with a dot');
    const owners = this.#owners.get(path);
    if (owners !== undefined) return Object.freeze([...owners]);
    if (/\[\d+\]/.test(path))
      throw invalidPath(path, 'list items are identified by key, as in .containers[name="web"]');
    const whole = this.fields.find((field) => isInside(path, field.path));
    return whole?.owners ?? [];
  }

  toString(): string {
    const rows = this.fields.map(({ path, value, owners }) => [
      path,
      printValue(value),
      owners.map(printOwner).join(', ') || 'none',
    ]);
    return printRows([['FIELD', 'VALUE', 'OWNED BY'], ...rows]);
  }

  [INSPECT](): string {
    return this.toString();
  }
}

function isInside(path: string, whole: string): boolean {
  return path.startsWith(whole) && (path[whole.length] === '.' || path[whole.length] === '[');
}

function invalidPath(path: string, why: string): TypeError {
  return new TypeError(`orchplane: ${JSON.stringify(path)} names no field: ${why}`);
}

/** The fields of the object, and owned fields that it lacks: an empty map, or a field of another version. */
function fieldPaths(schema: ObjectNode, object: ApiObject, managers: readonly Manager[]): readonly Path[] {
  const present = difference(fieldsOfObject(schema, object), UNTRACKED);
  const paths = new Map<string, Path>();
  for (const path of walkPaths(present, 'leaves')) paths.set(printPath(path), path);
  for (const { fields } of managers) {
    for (const path of walkPaths(fields, 'members')) {
      if (!hasChildren(nodeAt(present, path) ?? EMPTY_SET)) paths.set(printPath(path), path);
    }
  }
  return [...paths.values()];
}
