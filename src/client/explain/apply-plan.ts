/**
 * What an apply would do: rehearsed by the server, and compared here with what is there now.
 */
import type { Kind } from '../../kinds/kind.js';
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
import { fieldsOfIntent, fieldsOfObject } from '../../merge/apply/intent-fields.js';
import { UNTRACKED } from '../../merge/apply/schema-sets.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { StatusCause } from '../../meta/status.js';
import { schemaInDialect } from '../../schema/in-dialect.js';
import type { ObjectNode } from '../../schema/structural.js';
import { own } from '../../util/json.js';
import type { Endpoint } from '../endpoint.js';
import type { ApplyOptions } from '../options.js';
import { applyObject, getObject } from '../requests.js';
import { FieldReader, hasPath, INSPECT, nodeAt, type Path, printRows, printValue, walkPaths } from './field-values.js';
import { type FieldOwner, ownerOf, printOwner } from './ownership.js';

/** Who the refusal names, in the words of its causes. */
const CONFLICT_WITH = /^conflict with ("(?:[^"\\]|\\.)*")(?: with subresource ("(?:[^"\\]|\\.)*"))?(?: using (.*))?$/;

/**
 * - `add`, `change`, `remove`: what happens to the field
 * - `conflict`: it would change, but others own it; the apply fails unless it is forced
 * - `take`: the same, forced: the others lose it
 * - `share`: it is as the configuration wants it, and others own it too
 * - `keep`: it is as the configuration wants it, and the manager's alone
 * - `release`: the configuration no longer names it, and it stays because others own it
 * - `follow`: the configuration does not name it; it changes with the rest, as defaults do
 * - `ignore`: the configuration names it, but it is not for this address to say: a status beside the object
 */
export type FieldChange =
  | 'add'
  | 'change'
  | 'remove'
  | 'conflict'
  | 'take'
  | 'share'
  | 'keep'
  | 'release'
  | 'follow'
  | 'ignore';

export interface PlannedField {
  /** As messages of the server write it: `.spec.replicas`. */
  readonly path: string;
  readonly change: FieldChange;
  readonly before: unknown;
  readonly after: unknown;
  /** Everybody else who owns the field now. */
  readonly others: readonly FieldOwner[];
}

/** What an apply would do. Prints as a list. */
export interface ApplyPlan<Object = ApiObject> {
  /**
   * - `create`, `change`: the object would come into being, or change
   * - `owners`: only who owns what would change; that is a write, too
   * - `nothing`: nothing would be written
   * - `conflict`: it would fail
   */
  readonly outcome: 'create' | 'change' | 'owners' | 'nothing' | 'conflict';
  readonly manager: string;
  /** What is named, was named or would change, in order. */
  readonly fields: readonly PlannedField[];
  /** The object as it would be; in case of a conflict, as it would be if the apply were forced. */
  readonly object: Object;
  toString(): string;
}

/** Rehearses an apply. Rejects like the apply itself, except for conflicts, which are part of the plan. */
export async function explainApply<Object>(
  endpoint: Endpoint,
  change: { readonly name?: string; readonly input: unknown },
  options: ApplyOptions,
): Promise<ApplyPlan<Object>> {
  const { input } = change;
  const given = (input as { readonly metadata?: { readonly name?: unknown } } | null)?.metadata?.name;
  const name = endpoint.name(change.name ?? given, 'explain');
  const live = await findObject(endpoint, name, options.signal);
  const rehearse = async (force: boolean): Promise<ApiObject> =>
    applyObject<ApiObject>(endpoint, { name, input }, { ...options, force, dryRun: true });
  let conflict: StatusError | undefined;
  let object: ApiObject;
  try {
    object = await rehearse(options.force === true);
  } catch (error) {
    if (!isOwnershipConflict(error)) throw error;
    conflict = error;
    object = await rehearse(true);
  }
  const { dialect } = endpoint.connection.transport;
  const shown = shownKind(endpoint);
  const schema = schemaInDialect(shown.schema, dialect);
  return new Plan<Object>({
    schema,
    live,
    object,
    named: fieldsOfIntent(schema, input),
    manager: options.fieldManager ?? endpoint.connection.defaults.fieldManager ?? '',
    subresource: endpoint.place.subresource ?? '',
    isView: shown !== endpoint.kind,
    conflicts: conflict?.status.details?.causes ?? [],
  });
}

/** Below an object something else may be shown than the object. */
function shownKind({ kind, place }: Endpoint): Kind {
  const declared = place.subresource === undefined ? undefined : own(kind.subresources, place.subresource);
  return declared?.type === undefined ? kind : declared.kind;
}

async function findObject(endpoint: Endpoint, name: string, signal?: AbortSignal): Promise<ApiObject | undefined> {
  try {
    return await getObject<ApiObject>(endpoint, name, signal === undefined ? {} : { signal });
  } catch (error) {
    if (StatusError.is(error, 'NotFound')) return undefined;
    throw error;
  }
}

function isOwnershipConflict(error: unknown): error is StatusError {
  if (!StatusError.is(error, 'Conflict')) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict') === true;
}

class Plan<Object> implements ApplyPlan<Object> {
  readonly outcome: ApplyPlan['outcome'];
  readonly manager: string;
  readonly fields: readonly PlannedField[];
  readonly object: Object;
  readonly #title: string;

  constructor(rehearsal: Rehearsal) {
    const { manager, object } = rehearsal;
    this.manager = manager;
    this.object = object as Object;
    this.fields = Object.freeze(plannedFields(rehearsal));
    this.outcome = outcomeOf(this.fields, rehearsal);
    this.#title = `${object.kind} "${object.metadata.name}", applied by "${manager}"`;
  }

  toString(): string {
    const rows = this.fields.map(({ path, change, before, after, others }) => [
      `  ${change}`,
      path,
      printChange(before, after),
      others.length === 0 ? '' : `${WITH[change]} ${others.map(printOwner).join(', ')}`,
    ]);
    const title = `${this.#title}: ${TITLES[this.outcome]}`;
    return rows.length === 0 ? title : `${title}\n${printRows(rows)}`;
  }

  [INSPECT](): string {
    return this.toString();
  }
}

const STANDING: readonly FieldChange[] = ['keep', 'share', 'release', 'ignore'];

function outcomeOf(fields: readonly PlannedField[], rehearsal: Rehearsal): ApplyPlan['outcome'] {
  if (rehearsal.conflicts.length > 0) return 'conflict';
  if (rehearsal.live === undefined) return 'create';
  if (!fields.every(({ change }) => STANDING.includes(change))) return 'change';
  return changesOwners(rehearsal) ? 'owners' : 'nothing';
}

const TITLES: Readonly<Record<ApplyPlan['outcome'], string>> = {
  create: 'would be created',
  change: 'would change',
  owners: 'would only change owners',
  nothing: 'would stay as it is',
  conflict: 'would fail with a conflict',
};

const WITH: Readonly<Record<FieldChange, string>> = {
  add: 'with',
  change: 'also owned by',
  remove: 'also owned by',
  conflict: 'owned by',
  take: 'taken from',
  share: 'shared with',
  keep: '',
  release: 'left to',
  follow: 'owned by',
  ignore: 'owned by',
};

function printChange(before: unknown, after: unknown): string {
  const [was, is] = [printValue(before), printValue(after)];
  return was === is ? is : `${was || '(absent)'} → ${is || '(absent)'}`;
}

interface Rehearsal {
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

function plannedFields(rehearsal: Rehearsal): readonly PlannedField[] {
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
function changesOwners({ live, object }: Rehearsal): boolean {
  const before = readManagers(live?.metadata.managedFields);
  const after = readManagers(object.metadata.managedFields);
  if (before.size !== after.size) return true;
  return [...before].some(([key, { fields }]) => !sameSet(fields, after.get(key)?.fields ?? NOTHING));
}
