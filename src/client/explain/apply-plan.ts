/**
 * What an apply would do: rehearsed by the server, and compared here with what is there now.
 */
import type { Kind } from '../../kinds/kind.js';
import { fieldsOfIntent } from '../../merge/apply/owned-fields.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import { schemaInDialect } from '../../schema/in-dialect.js';
import { own } from '../../util/json.js';
import type { Endpoint } from '../endpoint.js';
import type { ApplyOptions } from '../options.js';
import { applyObject, getObject } from '../requests.js';
import { INSPECT, printRows, printValue } from './field-values.js';
import { type FieldOwner, printOwner } from './ownership.js';
import { changesOwners, plannedFields, type Rehearsal } from './planned-fields.js';

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
