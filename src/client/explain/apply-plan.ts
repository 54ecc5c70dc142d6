/**
 * Explains what an apply would do: compares the result of a dry run with the live object.
 */
import { compare } from '../../merge/apply/compare.js';
import {
  difference,
  EMPTY_SET,
  type FieldSet,
  hasChildren,
  isEmptySet,
  printPath,
  sameSet,
  union,
} from '../../merge/apply/field-set.js';
import { fieldsOfIntent, fieldsOfObject } from '../../merge/apply/intent-fields.js';
import {
  type Manager,
  type Managers,
  managerKey,
  managerWith,
  NO_MANAGERS,
  readManagers,
} from '../../merge/apply/managers.js';
import { UNTRACKED } from '../../merge/apply/schema-sets.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { StatusCause } from '../../meta/status.js';
import { schemaInDialect } from '../../schema/in-dialect.js';
import type { ObjectNode } from '../../schema/schema-node.js';
import type { Endpoint } from '../endpoint.js';
import { type ApplyOptions, planOptions } from '../options.js';
import { sendApply, sendGet } from '../requests.js';
import { FieldReader, hasPath, INSPECT, nodeAt, type Path, printRows, printValue, walkPaths } from './field-values.js';
import { type FieldOwner, ownerOf, printOwner } from './ownership.js';

/**
 * The effect of an apply on a field:
 * - `add`, `change`, `remove`: the field is added, changed or removed
 * - `conflict`: it would change, but other managers own it; the apply fails unless it is forced
 * - `take`: like `conflict`, but forced: the others lose it
 * - `share`: it already has the applied value, and others own it too
 * - `keep`: it already has the applied value, and only the manager owns it
 * - `release`: the configuration no longer names it, and it stays because others own it
 * - `follow`: the configuration does not name it; it changes as a consequence, as defaults do
 * - `ignore`: the configuration names it, but this endpoint does not write it, such as status on the main resource
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

/** The effect of an apply on one field. */
export interface PlannedField {
  /** As in the server's messages: `.spec.replicas`. */
  readonly path: string;
  readonly change: FieldChange;
  readonly before: unknown;
  readonly after: unknown;
  /** The other managers that own the field now. */
  readonly others: readonly FieldOwner[];
}

/** What an apply would do. Prints as a list. */
export interface ApplyPlan<Object = ApiObject> {
  /**
   * - `create`, `change`: the object would be created or changed
   * - `owners`: only field ownership would change, which is also a write
   * - `nothing`: nothing would be written
   * - `conflict`: it would fail
   */
  readonly outcome: 'create' | 'change' | 'owners' | 'nothing' | 'conflict';
  readonly manager: string;
  /** The fields that are applied, were applied before or would change, in order. */
  readonly fields: readonly PlannedField[];
  /** The resulting object; in case of a conflict, the result of a forced apply. */
  readonly object: Object;
  toString(): string;
}

/** Explains an apply. Rejects like the apply itself, except for conflicts, which are part of the plan. */
export async function explainApply<Object>(
  endpoint: Endpoint,
  change: { readonly name?: string; readonly input: unknown },
  options: ApplyOptions,
): Promise<ApplyPlan<Object>> {
  const { signal, force = false } = planOptions(options);
  const { input } = change;
  const given = (input as { readonly metadata?: { readonly name?: unknown } } | null)?.metadata?.name;
  const name = endpoint.checkName(change.name ?? given, 'explain');
  const live = await findObject(endpoint, name, signal);
  const rehearse = async (isForced: boolean): Promise<ApiObject> =>
    sendApply<ApiObject>(endpoint, { name, input }, { ...options, force: isForced, dryRun: true });
  let conflict: StatusError | undefined;
  let object: ApiObject;
  try {
    object = await rehearse(force);
  } catch (error) {
    if (!isOwnershipConflict(error)) throw error;
    conflict = error;
    object = await rehearse(true);
  }
  const { dialect } = endpoint.config.transport;
  const kind = endpoint.bodyKind;
  const schema = schemaInDialect(kind.schema, dialect);
  return new Plan<Object>({
    schema,
    live,
    object,
    named: fieldsOfIntent(schema, input),
    manager: options.fieldManager ?? endpoint.config.defaults.fieldManager ?? '',
    subresource: endpoint.scope.subresource ?? '',
    isView: kind !== endpoint.kind,
    conflicts: conflict?.status.details?.causes ?? [],
  });
}

async function findObject(endpoint: Endpoint, name: string, signal?: AbortSignal): Promise<ApiObject | undefined> {
  try {
    return await sendGet<ApiObject>(endpoint, name, signal === undefined ? {} : { signal });
  } catch (error) {
    if (StatusError.is(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Whether an apply has failed because other managers own some of its fields. */
export function isOwnershipConflict(error: unknown): error is StatusError {
  if (!StatusError.is(error, 'Conflict')) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict') === true;
}

class Plan<Object> implements ApplyPlan<Object> {
  readonly outcome: ApplyPlan['outcome'];
  readonly manager: string;
  readonly fields: readonly PlannedField[];
  readonly object: Object;
  readonly #title: string;

  constructor(rehearsal: DryRunResult) {
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
      others.length === 0 ? '' : `${OWNER_LABELS[change]} ${others.map(printOwner).join(', ')}`,
    ]);
    const title = `${this.#title}: ${OUTCOME_TEXTS[this.outcome]}`;
    return rows.length === 0 ? title : `${title}\n${printRows(rows)}`;
  }

  [INSPECT](): string {
    return this.toString();
  }
}

const UNCHANGED: readonly FieldChange[] = ['keep', 'share', 'release', 'ignore'];

function outcomeOf(fields: readonly PlannedField[], rehearsal: DryRunResult): ApplyPlan['outcome'] {
  if (rehearsal.conflicts.length > 0) return 'conflict';
  if (rehearsal.live === undefined) return 'create';
  if (!fields.every(({ change }) => UNCHANGED.includes(change))) return 'change';
  return hasOwnershipChange(rehearsal) ? 'owners' : 'nothing';
}

const OUTCOME_TEXTS: Readonly<Record<ApplyPlan['outcome'], string>> = {
  create: 'would be created',
  change: 'would change',
  owners: 'would only change owners',
  nothing: 'would stay as it is',
  conflict: 'would fail with a conflict',
};

const OWNER_LABELS: Readonly<Record<FieldChange, string>> = {
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

interface DryRunResult {
  readonly schema: ObjectNode;
  readonly live: ApiObject | undefined;
  /** The result of the dry run. */
  readonly object: ApiObject;
  /** The fields of the configuration. */
  readonly named: FieldSet;
  readonly manager: string;
  readonly subresource: string;
  /**
   * The endpoint is a subresource with a kind of its own, which has no managedFields: the fields of the configuration
   * count as owned.
   */
  readonly isView: boolean;
  /** The conflict causes of the unforced dry run. */
  readonly conflicts: readonly StatusCause[];
}

/** Field ownership before and after the apply. */
interface OwnershipChanges {
  /** All other managers. */
  readonly others: readonly Manager[];
  readonly before: FieldSet;
  readonly after: FieldSet;
  readonly changed: FieldSet;
  readonly added: FieldSet;
  readonly removed: FieldSet;
  /** The conflicting owners by path, from the server's error. */
  readonly conflicts: ReadonlyMap<string, readonly FieldOwner[]>;
}

function plannedFields(rehearsal: DryRunResult): readonly PlannedField[] {
  const { schema, live, object, named } = rehearsal;
  const claims = ownershipChanges(rehearsal);
  const { before, after, changed, removed } = claims;
  const all = [named, before, after, changed, removed].reduce(union, EMPTY_SET);
  const existing = union(fieldsOfObject(schema, object), fieldsOfObject(schema, live ?? {}));
  const [was, is] = [new FieldReader(schema, live), new FieldReader(schema, object)];
  const paths = reportedPaths(difference(all, UNTRACKED), existing, claims.conflicts);
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

function ownershipChanges(rehearsal: DryRunResult): OwnershipChanges {
  const { schema, live, object, named, manager, subresource, conflicts, isView } = rehearsal;
  const { apiVersion } = object;
  const managers = managersOf(rehearsal);
  const key = managerKey({ manager, operation: 'Apply', apiVersion, subresource });
  const { added, modified, removed } = compare(schema, withoutServerFields(live), withoutServerFields(object));
  const later = isView ? undefined : readManagers(object.metadata.managedFields);
  return {
    others: [...managers].filter(([other]) => other !== key).map(([, other]) => other),
    before: managers.get(key)?.fields ?? EMPTY_SET,
    after: later === undefined ? difference(named, UNTRACKED) : (later.get(key)?.fields ?? EMPTY_SET),
    changed: union(modified, added),
    added,
    removed,
    conflicts: conflictsByPath(conflicts),
  };
}

/**
 * The managers before the apply. An object without managedFields belongs to `before-first-apply`, as the server would
 * record it.
 */
function managersOf({ schema, live, subresource, isView }: DryRunResult): Managers {
  if (live === undefined || isView) return NO_MANAGERS;
  const managers = readManagers(live.metadata.managedFields);
  if (managers.size > 0) return managers;
  const { apiVersion } = live;
  const identity = { manager: 'before-first-apply', operation: 'Update', apiVersion, subresource } as const;
  const fields = difference(compare(schema, {}, live).added, UNTRACKED);
  return isEmptySet(fields) ? managers : new Map([[managerKey(identity), managerWith(identity, fields, undefined)]]);
}

/** Parses the message of a conflict cause. */
const CONFLICT_MESSAGE =
  /^conflict with ("(?:[^"\\]|\\.)*")(?: with subresource ("(?:[^"\\]|\\.)*"))?(?: using (.*))?$/;

function conflictsByPath(causes: readonly StatusCause[]): ReadonlyMap<string, readonly FieldOwner[]> {
  const found = new Map<string, FieldOwner[]>();
  for (const { field = '', message = '' } of causes) {
    const [, manager, subresource, version] = CONFLICT_MESSAGE.exec(message) ?? [];
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

/** Without the metadata that the server updates on every write. */
function withoutServerFields(object: ApiObject | undefined): unknown {
  if (object === undefined) return {};
  const { managedFields: _managers, resourceVersion: _version, generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The paths to report: leaves only, and any path that the server's conflict names. */
function reportedPaths(fields: FieldSet, existing: FieldSet, spoken: ReadonlyMap<string, unknown>): readonly Path[] {
  return [...walkPaths(fields, 'members')].filter(
    (path) =>
      spoken.has(printPath(path)) || (!hasChildren(nodeAt(fields, path)) && !hasChildren(nodeAt(existing, path))),
  );
}

function changeOf(path: Path, isOwned: boolean, claims: OwnershipChanges): FieldChange {
  const { before, after, changed, added, removed, conflicts } = claims;
  if (hasPath(removed, path)) return 'remove';
  if (hasPath(after, path)) {
    if (!hasPath(changed, path)) return isOwned ? 'share' : 'keep';
    // In a failing plan, fields without a conflict have no other owner.
    if (isOwned && conflicts.size === 0) return 'take';
    return hasPath(added, path) ? 'add' : 'change';
  }
  if (hasPath(changed, path)) return 'follow';
  return hasPath(before, path) ? 'release' : 'ignore';
}

/** Whether field ownership would change. */
function hasOwnershipChange({ live, object }: DryRunResult): boolean {
  const before = readManagers(live?.metadata.managedFields);
  const after = readManagers(object.metadata.managedFields);
  if (before.size !== after.size) return true;
  return [...before].some(([key, { fields }]) => !sameSet(fields, after.get(key)?.fields ?? EMPTY_SET));
}
