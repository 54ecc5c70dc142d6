/**
 * What an apply would do: rehearsed by the server, and compared here with what is there now.
 */
import { compare } from '../../merge/apply/compare.js';
import { difference, type FieldSet, isMember, NOTHING, printPath, union } from '../../merge/apply/field-set.js';
import { type Manager, type Managers, managerKey, readManagers } from '../../merge/apply/managers.js';
import { fieldsOfObject } from '../../merge/apply/owned-fields.js';
import { UNTRACKED } from '../../merge/apply/tracked.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import { schemaInDialect } from '../../schema/in-dialect.js';
import type { ObjectNode } from '../../schema/structural.js';
import type { Endpoint } from '../endpoint.js';
import type { ApplyOptions } from '../options.js';
import { applyObject, getObject } from '../requests.js';
import { hasPath, nodeAt, type Path, printRows, printValue, valueAt, walkPaths } from './field-values.js';
import { type FieldOwner, ownerOf, printOwner } from './ownership.js';

/**
 * - `add`, `change`, `remove`: what happens to the field
 * - `conflict`: it would change, but others own it; the apply fails unless it is forced
 * - `take`: the same, forced: the others lose it
 * - `share`: it is as the configuration wants it, and others own it too
 * - `keep`: it is as the configuration wants it, and the manager's alone
 * - `release`: the configuration no longer names it, and it stays because others own it
 * - `follow`: the configuration does not name it; it changes with the rest, as defaults do
 */
export type FieldChange = 'add' | 'change' | 'remove' | 'conflict' | 'take' | 'share' | 'keep' | 'release' | 'follow';

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
export interface ApplyPlan {
  /** `conflict`: nothing, because it would fail. */
  readonly outcome: 'create' | 'change' | 'nothing' | 'conflict';
  readonly manager: string;
  /** What is named, was named or would change, in order. */
  readonly fields: readonly PlannedField[];
  /** The object as it would be; in case of a conflict, as it would be if the apply were forced. */
  readonly object: ApiObject;
  toString(): string;
}

/** Rehearses an apply. Rejects like the apply itself, except for conflicts, which are part of the plan. */
export async function explainApply(endpoint: Endpoint, input: unknown, options: ApplyOptions): Promise<ApplyPlan> {
  const { signal } = options;
  const name = (input as { readonly metadata?: { readonly name?: string } } | null)?.metadata?.name ?? '';
  const live = await findObject(endpoint, name, signal);
  const rehearse = async (force: boolean): Promise<ApiObject> =>
    applyObject<ApiObject>(endpoint, { input }, { ...options, force, dryRun: true });
  const forced = options.force === true;
  let isConflict = false;
  let object: ApiObject;
  try {
    object = await rehearse(forced);
  } catch (error) {
    if (!isOwnershipConflict(error)) throw error;
    isConflict = true;
    object = await rehearse(true);
  }
  const schema = schemaInDialect(endpoint.kind.schema, endpoint.connection.transport.dialect);
  const manager = options.fieldManager ?? endpoint.connection.defaults.fieldManager ?? '';
  return new Plan({ schema, manager, live, object, isConflict, apiVersion: object.apiVersion });
}

async function findObject(endpoint: Endpoint, name: string, signal?: AbortSignal): Promise<ApiObject | undefined> {
  try {
    return await getObject<ApiObject>(endpoint, name, signal === undefined ? {} : { signal });
  } catch (error) {
    if (StatusError.is(error, 'NotFound')) return undefined;
    throw error;
  }
}

function isOwnershipConflict(error: unknown): boolean {
  if (!StatusError.is(error, 'Conflict')) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'FieldManagerConflict') === true;
}

interface Rehearsal {
  readonly schema: ObjectNode;
  readonly manager: string;
  readonly apiVersion: string;
  readonly live: ApiObject | undefined;
  readonly object: ApiObject;
  readonly isConflict: boolean;
}

class Plan implements ApplyPlan {
  readonly outcome: ApplyPlan['outcome'];
  readonly manager: string;
  readonly fields: readonly PlannedField[];
  readonly object: ApiObject;
  readonly #title: string;

  constructor(rehearsal: Rehearsal) {
    const { manager, live, object, isConflict } = rehearsal;
    this.manager = manager;
    this.object = object;
    this.fields = Object.freeze(plannedFields(rehearsal));
    const isSame = this.fields.every(({ change }) => change === 'keep' || change === 'share' || change === 'release');
    this.outcome = isConflict ? 'conflict' : live === undefined ? 'create' : isSame ? 'nothing' : 'change';
    this.#title = `${object.kind} "${object.metadata.name}", applied by "${manager}"`;
  }

  toString(): string {
    const rows = this.fields.map(({ path, change, before, after, others }) => [
      `  ${change}`,
      path,
      printChange(before, after),
      others.length === 0 ? '' : `${WITH[change]} ${others.map(printOwner).join(', ')}`,
    ]);
    return rows.length === 0
      ? `${this.#title}: ${TITLES[this.outcome]}`
      : `${this.#title}: ${TITLES[this.outcome]}\n${printRows(rows)}`;
  }
}

const TITLES: Readonly<Record<ApplyPlan['outcome'], string>> = {
  create: 'would be created',
  change: 'would change',
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
};

function printChange(before: unknown, after: unknown): string {
  const [was, is] = [printValue(before), printValue(after)];
  return was === is ? is : `${was || '(absent)'} → ${is || '(absent)'}`;
}

function plannedFields(rehearsal: Rehearsal): readonly PlannedField[] {
  const { schema, live, object, manager, apiVersion, isConflict } = rehearsal;
  const managers = managersOf(live);
  const key = managerKey({ manager, operation: 'Apply', apiVersion, subresource: '' });
  const claimed = readManagers(object.metadata.managedFields).get(key)?.fields ?? NOTHING;
  const claimedBefore = managers.get(key)?.fields ?? NOTHING;
  const rest = [...managers].filter(([other]) => other !== key).map(([, other]) => other);
  const { added, modified, removed } = compare(schema, fieldsOnly(live), fieldsOnly(object));
  const changed = union(modified, added);
  const concerned = difference(union(union(claimed, claimedBefore), union(changed, removed)), UNTRACKED);
  const existing = union(fieldsOfObject(schema, object), fieldsOfObject(schema, live ?? {}));
  return ends(concerned, existing).map((path): PlannedField => {
    const owners = rest.filter(({ fields }) => hasPath(fields, path));
    const change = changeOf(path, { claimed, changed, added, removed, owners, isConflict });
    return Object.freeze({
      path: printPath(path),
      change,
      before: live === undefined ? undefined : valueAt(schema, live, path),
      after: valueAt(schema, object, path),
      others: Object.freeze(owners.map(ownerOf)),
    });
  });
}

function managersOf(live: ApiObject | undefined): Managers {
  return readManagers(live?.metadata.managedFields);
}

/** Without what the server counts: that it would change goes without saying. */
function fieldsOnly(object: ApiObject | undefined): unknown {
  if (object === undefined) return {};
  const { managedFields: _managers, resourceVersion: _version, generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Paths that say something: not those of maps and items with fields in them, which speak for themselves. */
function ends(fields: FieldSet, existing: FieldSet): readonly Path[] {
  return [...walkPaths(fields, 'members')].filter((path) => {
    const node = nodeAt(fields, path) ?? NOTHING;
    const present = nodeAt(existing, path);
    return isLeaf(node) && (present === undefined || isLeaf(present) || !hasMembersBelow(present));
  });
}

function isLeaf(node: FieldSet): boolean {
  return Object.keys(node).every((element) => element === '.');
}

function hasMembersBelow(node: FieldSet): boolean {
  return Object.keys(node).some(
    (element) => element !== '.' && (isMember(node[element]) || !isLeaf(node[element] ?? NOTHING)),
  );
}

function changeOf(
  path: Path,
  about: {
    readonly claimed: FieldSet;
    readonly changed: FieldSet;
    readonly added: FieldSet;
    readonly removed: FieldSet;
    readonly owners: readonly Manager[];
    readonly isConflict: boolean;
  },
): FieldChange {
  const { claimed, changed, added, removed, owners, isConflict } = about;
  if (hasPath(removed, path)) return 'remove';
  if (!hasPath(claimed, path)) return hasPath(changed, path) ? 'follow' : 'release';
  if (!hasPath(changed, path)) return owners.length > 0 ? 'share' : 'keep';
  if (owners.length > 0) return isConflict ? 'conflict' : 'take';
  return hasPath(added, path) ? 'add' : 'change';
}
