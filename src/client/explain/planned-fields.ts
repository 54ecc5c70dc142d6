/**
 * What would become of each field that a rehearsed apply is about.
 */
import { compare } from '../../merge/apply/compare.js';
import {
  difference,
  type FieldSet,
  hasBelow,
  isEmptySet,
  NOTHING,
  printPath,
  sameSet,
  union,
} from '../../merge/apply/field-set.js';
import {
  type Manager,
  type Managers,
  managerKey,
  managerWith,
  NOBODY,
  readManagers,
} from '../../merge/apply/managers.js';
import { fieldsOfObject } from '../../merge/apply/owned-fields.js';
import { UNTRACKED } from '../../merge/apply/tracked.js';
import type { ApiObject } from '../../meta/object.js';
import type { StatusCause } from '../../meta/status.js';
import type { ObjectNode } from '../../schema/structural.js';
import type { FieldChange, PlannedField } from './apply-plan.js';
import { FieldReader, hasPath, nodeAt, type Path, walkPaths } from './field-values.js';
import { type FieldOwner, ownerOf } from './ownership.js';

export interface Rehearsal {
  readonly schema: ObjectNode;
  readonly live: ApiObject | undefined;
  /** As it would be. */
  readonly object: ApiObject;
  /** What the configuration names. */
  readonly named: FieldSet;
  readonly manager: string;
  readonly subresource: string;
  /** It is not the object that is shown, but a view of it, which does not say who manages it: what is named is claimed. */
  readonly isView: boolean;
  /** Of a rehearsal that was not forced. */
  readonly conflicts: readonly StatusCause[];
}

/** Everything that is known about who owns what, before and after. */
interface Claims {
  /** Of everybody but the manager. */
  readonly others: readonly Manager[];
  readonly before: FieldSet;
  readonly after: FieldSet;
  readonly changed: FieldSet;
  readonly added: FieldSet;
  readonly removed: FieldSet;
  /** By path, from the server's refusal. */
  readonly conflicts: ReadonlyMap<string, readonly FieldOwner[]>;
}

export function plannedFields(rehearsal: Rehearsal): readonly PlannedField[] {
  const { schema, live, object, named } = rehearsal;
  const claims = claimsOf(rehearsal);
  const { before, after, changed, removed } = claims;
  const all = [named, before, after, changed, removed].reduce(union, NOTHING);
  const existing = union(fieldsOfObject(schema, object), fieldsOfObject(schema, live ?? {}));
  const [was, is] = [new FieldReader(schema, live), new FieldReader(schema, object)];
  const paths = endsOf(difference(all, UNTRACKED), existing, claims.conflicts);
  return paths.map((path): PlannedField => {
    const printed = printPath(path);
    const owners = claims.others.filter(({ fields }) => hasPath(fields, path)).map(ownerOf);
    const refused = claims.conflicts.get(printed);
    return Object.freeze({
      path: printed,
      change: refused === undefined ? changeOf(path, owners.length > 0, claims) : 'conflict',
      before: was.at(path),
      after: is.at(path),
      others: Object.freeze(owners.length > 0 ? owners : (refused ?? [])),
    });
  });
}

function claimsOf(rehearsal: Rehearsal): Claims {
  const { schema, live, object, named, manager, subresource, conflicts, isView } = rehearsal;
  const { apiVersion } = object;
  const managers = managersOf(rehearsal);
  const key = managerKey({ manager, operation: 'Apply', apiVersion, subresource });
  const { added, modified, removed } = compare(schema, fieldsOnly(live), fieldsOnly(object));
  const later = isView ? undefined : readManagers(object.metadata.managedFields);
  return {
    others: [...managers].filter(([other]) => other !== key).map(([, other]) => other),
    before: managers.get(key)?.fields ?? NOTHING,
    after: later === undefined ? difference(named, UNTRACKED) : (later.get(key)?.fields ?? NOTHING),
    changed: union(modified, added),
    added,
    removed,
    conflicts: conflictsByPath(conflicts),
  };
}

/** An object that nobody tracks belongs, as it is, to whoever came before the first apply: the server says so then. */
function managersOf({ schema, live, subresource, isView }: Rehearsal): Managers {
  if (live === undefined || isView) return NOBODY;
  const managers = readManagers(live.metadata.managedFields);
  if (managers.size > 0) return managers;
  const { apiVersion } = live;
  const identity = { manager: 'before-first-apply', operation: 'Update', apiVersion, subresource } as const;
  const fields = difference(compare(schema, {}, live).added, UNTRACKED);
  return isEmptySet(fields) ? managers : new Map([[managerKey(identity), managerWith(identity, fields, undefined)]]);
}

/** Who the refusal names, in the words of its causes. */
const CONFLICT_WITH = /^conflict with ("(?:[^"\\]|\\.)*")(?: with subresource ("(?:[^"\\]|\\.)*"))?(?: using (.*))?$/;

function conflictsByPath(causes: readonly StatusCause[]): ReadonlyMap<string, readonly FieldOwner[]> {
  const found = new Map<string, FieldOwner[]>();
  for (const { field = '', message = '' } of causes) {
    const [, manager, subresource, version] = CONFLICT_WITH.exec(message) ?? [];
    const owners = found.get(field) ?? [];
    found.set(field, owners);
    if (manager === undefined) continue;
    owners.push({
      manager: JSON.parse(manager) as string,
      operation: version === undefined ? 'Apply' : 'Update',
      apiVersion: version ?? '',
      ...(subresource === undefined ? {} : { subresource: JSON.parse(subresource) as string }),
    });
  }
  return found;
}

/** Without what the server counts: that it would change goes without saying. */
function fieldsOnly(object: ApiObject | undefined): unknown {
  if (object === undefined) return {};
  const { managedFields: _managers, resourceVersion: _version, generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/**
 * Paths that say something: not those of maps and items with fields in them, which speak for themselves, unless the
 * server spoke of them.
 */
function endsOf(fields: FieldSet, existing: FieldSet, spoken: ReadonlyMap<string, unknown>): readonly Path[] {
  return [...walkPaths(fields, 'members')].filter(
    (path) => spoken.has(printPath(path)) || (!hasBelow(nodeAt(fields, path)) && !hasBelow(nodeAt(existing, path))),
  );
}

function changeOf(path: Path, isOwned: boolean, claims: Claims): FieldChange {
  const { before, after, changed, added, removed, conflicts } = claims;
  if (hasPath(removed, path)) return 'remove';
  if (hasPath(after, path)) {
    if (!hasPath(changed, path)) return isOwned ? 'share' : 'keep';
    // In a plan that fails, what was not refused is nobody's.
    if (isOwned && conflicts.size === 0) return 'take';
    return hasPath(added, path) ? 'add' : 'change';
  }
  if (hasPath(changed, path)) return 'follow';
  return hasPath(before, path) ? 'release' : 'ignore';
}

/** Whether somebody would own more or less than now. */
export function changesOwners({ live, object }: Rehearsal): boolean {
  const before = readManagers(live?.metadata.managedFields);
  const after = readManagers(object.metadata.managedFields);
  if (before.size !== after.size) return true;
  return [...before].some(([key, { fields }]) => !sameSet(fields, after.get(key)?.fields ?? NOTHING));
}
