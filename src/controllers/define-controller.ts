/**
 * The small way to write a controller: say which kind it is about, what belongs to its objects, and what is to be done
 * about one of them. Informers, keys, finalizers and retries are seen to here; what a controller is in general stands in
 * `runtime/controller.ts`.
 */

import { type LabelsOption, labelSelectorText } from '../client/selectors.js';
import type { Kind, ObjectOf } from '../kinds/kind.js';
import { StatusError } from '../meta/errors.js';
import { everything, matchesLabels, parseLabelSelector } from '../meta/labels.js';
import { qualifiedNameProblems } from '../meta/names.js';
import type { ApiObject } from '../meta/object.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { Controller, ControllerContext } from './runtime/controller.js';
import type { EventType } from './runtime/events.js';
import { controllerOf } from './runtime/owners.js';
import { keyOf, type ObjectName, type SharedInformer, splitKey } from './runtime/shared-informer.js';
import { type Again, type Backoff, checkedBackoff, type WorkQueue } from './runtime/work-queue.js';

// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is the ordinary case.
type Reconciled = MaybePromise<Again | void>;

export interface ControllerDefinition<Primary extends Kind> {
  /** Unique among those that run together; events and messages carry it. */
  readonly name: string;
  /**
   * The service account it acts as, and reads as, where controllers have accounts of their own (`accounts: 'own'`): one of
   * kube-system by its name, any other as `namespace/name`. Absent: the one of kube-system with the controller's name.
   */
  readonly account?: string | undefined;
  /** In whose name it writes fields, unless the run says otherwise. Absent: the controller's name. */
  readonly fieldManager?: string | undefined;
  /** What it is about. */
  readonly kind: Primary;
  /** Only objects of this namespace. */
  readonly namespace?: string | undefined;
  /** Only objects with these labels. */
  readonly labels?: LabelsOption | undefined;
  /** Only objects that this accepts. */
  readonly where?: ((object: ObjectOf<Primary>) => boolean) | undefined;
  /** Kinds whose objects have one of ours as their controlling owner: a change to them is a reason to look at that. */
  readonly owns?: readonly Kind[] | undefined;
  /** Other kinds, each with the objects of ours that a change to one of theirs is about; see {@link watching}. */
  readonly watches?: readonly Watching[] | undefined;
  /** Kinds that are read from `context.informer` without a change to them being a reason to look. */
  readonly reads?: readonly Kind[] | undefined;
  /**
   * Makes the world what the object says. Called for each object that is there or changes, one call at a time for one
   * object, with everything known that earlier calls have written. Objects that are being deleted are left out.
   */
  readonly reconcile: (object: ObjectOf<Primary>, context: ReconcileContext) => Reconciled;
  /** Called when an object is gone, or is no longer one of those that were asked for. */
  readonly onGone?: ((name: ObjectName, context: ReconcileContext) => MaybePromise<void>) | undefined;
  /** Something that has to be done before an object may go. */
  readonly finalizer?: Finalizer<Primary> | undefined;
  /** `reconcile` is called for objects that are being deleted as well. */
  readonly whileDeleting?: boolean | undefined;
  /** Decides when to try again after an error; nothing: later and later, by `backoff`. The error is reported in any case. */
  readonly onError?: ((error: unknown, failure: Failure<Primary>) => Again | undefined) | undefined;
  readonly backoff?: Backoff | undefined;
  /** How many objects are looked at together; 1 unless given. */
  readonly workers?: number | undefined;
  /** Runs only where its kinds are served; otherwise that is an error. */
  readonly optional?: boolean | undefined;
}

const DEFINITION = [
  'name',
  'account',
  'fieldManager',
  'kind',
  'namespace',
  'labels',
  'where',
  'owns',
  'watches',
  'reads',
  'reconcile',
  'onGone',
  'finalizer',
  'whileDeleting',
  'onError',
  'backoff',
  'workers',
  'optional',
] as const satisfies readonly (keyof ControllerDefinition<Kind>)[];

export interface Finalizer<Primary extends Kind> {
  /** `example.com/what`; put on each object before it is reconciled for the first time. */
  readonly name: string;
  /** Runs when the object is being deleted, and again until it succeeds; then the finalizer is taken off. */
  readonly cleanup: (object: ObjectOf<Primary>, context: ReconcileContext) => Reconciled;
}

export interface Failure<Primary extends Kind> {
  readonly object: ObjectOf<Primary>;
  /** How often in a row, this time included. */
  readonly failures: number;
}

/** What `reconcile` has at hand. */
export interface ReconcileContext
  extends Pick<
    ControllerContext,
    'name' | 'client' | 'clock' | 'dialect' | 'ids' | 'events' | 'now' | 'serves' | 'report'
  > {
  /** The objects of a kind that the definition names, as they are known here. */
  informer<AnyKind extends Kind>(kind: AnyKind): SharedInformer<AnyKind>;
  /** The objects of a kind in `owns` that this one controls. */
  owned<AnyKind extends Kind>(kind: AnyKind): readonly ObjectOf<AnyKind>[];
  /** Notes an Event about the object. */
  event(type: EventType, reason: string, message: string): void;
  /** Asks for another look at an object of the controller's kind, now or later. */
  requeue(which: Which, afterMs?: number): void;
}

/** An object by its name, by its key (`namespace/name`) or by itself. */
export type Which = string | ObjectName | Pick<ApiObject, 'metadata'>;

/** Objects of another kind, and which of the controller's own each of them is about. Made by {@link watching}. */
export interface Watching {
  readonly kind: Kind;
  keysOf(object: unknown, context: WatchContext): Iterable<string>;
}

export interface WatchContext {
  informer<AnyKind extends Kind>(kind: AnyKind): SharedInformer<AnyKind>;
}

/**
 * Says that changes to objects of a kind concern objects of the controller's own.
 *
 * @example
 * watching(ConfigMap, ({ metadata }) => [{ name: 'settings', namespace: metadata.namespace ?? 'default' }]);
 */
export function watching<AnyKind extends Kind>(
  kind: AnyKind,
  concerns: (object: ObjectOf<AnyKind>, context: WatchContext) => Iterable<Which> | undefined,
): Watching {
  return {
    kind,
    *keysOf(object, context) {
      for (const which of concerns(object as ObjectOf<AnyKind>, context) ?? []) yield keyOfWhich(which);
    },
  };
}

/**
 * A controller of one kind; for `runControllers` or `createCluster({ controllers })`.
 *
 * @example
 * const labeller = defineController({
 *   name: 'labeller', kind: Namespace,
 *   reconcile: async ({ metadata }, { client }) => {
 *     await client.api(ConfigMap, metadata.name).apply({ metadata: { name: 'about' }, data: { uid: metadata.uid } });
 *   },
 * });
 */
export function defineController<Primary extends Kind>(definition: ControllerDefinition<Primary>): Controller {
  refuseUnknownOptions('defineController', definition, DEFINITION);
  checkDefinition(definition);
  const { name, account = name, fieldManager = name, kind, owns = [], watches = [], reads = [], optional } = definition;
  const needs = [...new Set<Kind>([kind, ...owns, ...watches.map((watch) => watch.kind), ...reads])];
  return {
    name,
    account,
    readsAsItself: true,
    fieldManager,
    needs,
    optional,
    start: (context) => new Loop(context, definition, needs).start(),
  };
}

/** What would otherwise be noticed with the first object only. */
function checkDefinition({ name, kind, reconcile, finalizer, backoff }: ControllerDefinition<Kind>): void {
  const wrong = (what: string) => new TypeError(`orchplane: defineController: ${what}`);
  if (typeof name !== 'string' || name === '') throw wrong('a controller has a name');
  if (typeof (kind as Partial<Kind> | undefined)?.names?.plural !== 'string') throw wrong(`${name} has no kind`);
  if (typeof reconcile !== 'function') throw wrong(`${name} has no function reconcile`);
  if (backoff !== undefined) checkedBackoff(name, backoff);
  const problems = finalizer === undefined ? [] : qualifiedNameProblems(finalizer.name);
  if (problems.length > 0)
    throw wrong(`${name}: "${finalizer?.name}" is no name of a finalizer: ${problems.join('; ')}`);
}

class Loop<Primary extends Kind> {
  readonly #context: ControllerContext;
  readonly #definition: ControllerDefinition<Primary>;
  readonly #needs: readonly Kind[];
  readonly #objects: SharedInformer<Primary>;
  readonly #queue: WorkQueue;
  readonly #failures = new Map<string, number>();
  /** Keys that were handed to `reconcile`, so that whoever wants to know learns that they are gone. */
  readonly #seen = new Set<string>();
  readonly #isSelected: (object: ObjectOf<Primary>) => boolean;

  constructor(context: ControllerContext, definition: ControllerDefinition<Primary>, needs: readonly Kind[]) {
    this.#context = context;
    this.#definition = definition;
    this.#needs = needs;
    this.#isSelected = selectionOf(definition);
    this.#objects = context.informer(definition.kind);
    this.#queue = context.queue((key) => this.#look(key), {
      ...(definition.workers === undefined ? {} : { workers: definition.workers }),
      ...(definition.backoff === undefined ? {} : { backoff: definition.backoff }),
    });
  }

  start(): void {
    const { owns = [], watches = [], reads = [] } = this.#definition;
    // Before anybody is told of anything, so that a mapping may look at every kind.
    for (const kind of this.#needs) this.#context.informer(kind);
    for (const kind of reads) this.#context.informer(kind);
    this.#objects.onKey((key) => this.#queue.add(key));
    for (const kind of owns) {
      // Asked for now, so that it is kept from the start.
      this.#context.informer(kind).controlledBy('');
      this.#follow({ kind, keysOf: (object) => this.#ownersOf(object as ApiObject) });
    }
    for (const watch of watches) this.#follow(watch);
  }

  /** Both what an object was about and what it is about now. */
  #follow({ kind, keysOf }: Watching): void {
    const context: WatchContext = { informer: (other) => this.#informer(other) };
    this.#context.informer(kind).subscribe((event) => {
      for (const key of keysOf(event.object, context))
        this.#queue.add(placedKey(key, this.#definition.kind, event.object));
      if (event.type !== 'MODIFIED') return;
      for (const key of keysOf(event.previous, context))
        this.#queue.add(placedKey(key, this.#definition.kind, event.previous));
    });
  }

  #ownersOf(object: ApiObject): string[] {
    const { kind } = this.#definition;
    const owner = controllerOf(object);
    if (owner === undefined || owner.kind !== kind.kind) return [];
    const slash = owner.apiVersion.indexOf('/');
    if (this.#context.dialect.group(kind.group) !== owner.apiVersion.slice(0, Math.max(0, slash))) return [];
    const { namespace } = object.metadata;
    return [kind.scope === 'Cluster' || namespace === undefined ? owner.name : `${namespace}/${owner.name}`];
  }

  async #look(key: string): Promise<Again | undefined> {
    const object = this.#objects.at(key);
    if (object === undefined) {
      this.#failures.delete(key);
      await this.#tellGone(key);
      return undefined;
    }
    const context = this.#reconcileContext(metaOf(object));
    try {
      const again = (await this.#handle(key, object, context)) ?? undefined;
      this.#failures.delete(key);
      return again;
    } catch (error) {
      // Somebody else was faster: the queue looks again at once, as nobody else can decide better.
      if (StatusError.is(error, 'Conflict')) throw error;
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      const again = this.#definition.onError?.(error, { object, failures });
      if (again === undefined) throw error;
      this.#context.report(error, key);
      return again;
    }
  }

  async #handle(key: string, object: ObjectOf<Primary>, context: ReconcileContext): Promise<Again | undefined> {
    const { finalizer, reconcile, whileDeleting = false } = this.#definition;
    const meta = metaOf(object);
    const isHeld = finalizer !== undefined && (meta.metadata.finalizers ?? []).includes(finalizer.name);
    if (meta.metadata.deletionTimestamp !== undefined) {
      // Also where it is not selected any more: whoever has put a finalizer on has to take it off.
      if (isHeld) {
        const again = await finalizer.cleanup(object, context);
        if (again?.requeueAfterMs !== undefined) return again;
        await this.#setFinalizers(meta, (names) => names.filter((name) => name !== finalizer.name));
        return undefined;
      }
      if (!whileDeleting) return undefined;
    }
    if (!this.#isSelected(object)) {
      await this.#tellGone(key);
      return undefined;
    }
    if (finalizer !== undefined && !isHeld && meta.metadata.deletionTimestamp === undefined) {
      // The change brings the next look, and no reconciliation is ever without the finalizer.
      await this.#setFinalizers(meta, (names) => [...names, finalizer.name]);
      return undefined;
    }
    this.#seen.add(key);
    return (await reconcile(object, context)) ?? undefined;
  }

  async #tellGone(key: string): Promise<void> {
    if (!this.#seen.has(key)) return;
    const { onGone } = this.#definition;
    const name = splitKey(key);
    await onGone?.(name, this.#reconcileContext(undefined));
    this.#seen.delete(key);
  }

  /** With the version that was seen: a race is a Conflict, and the look is taken again at once. */
  async #setFinalizers(object: ApiObject, change: (names: readonly string[]) => readonly string[]): Promise<void> {
    const { metadata } = object;
    const api = this.#context.client.api(this.#definition.kind as Kind<ApiObject, ApiObject>, metadata.namespace);
    await api.update({ ...object, metadata: { ...metadata, finalizers: [...change(metadata.finalizers ?? [])] } });
  }

  #reconcileContext(object: ApiObject | undefined): ReconcileContext {
    const { name, client, clock, dialect, ids, events, now, serves, report } = this.#context;
    return {
      name,
      client,
      clock,
      dialect,
      ids,
      events,
      now,
      serves,
      report,
      informer: (kind) => this.#informer(kind),
      owned: (kind) => (object === undefined ? [] : this.#informer(kind).controlledBy(object.metadata.uid)),
      event: (type, reason, message) => {
        if (object !== undefined) events.record(object, type, reason, message);
      },
      requeue: (which, afterMs = 0) => this.#queue.addAfter(keyOfWhich(which), afterMs),
    };
  }

  /** One that was begun in the middle of a look would know nothing yet, and answer as if there were nothing. */
  #informer<AnyKind extends Kind>(kind: AnyKind): SharedInformer<AnyKind> {
    if (this.#needs.some((need) => isSameKind(need, kind))) return this.#context.informer(kind);
    throw new TypeError(
      `orchplane: the controller ${this.#context.name} has no informer of ${kind.kind}; name the kind in owns, watches or reads`,
    );
  }
}

function selectionOf<Primary extends Kind>(
  definition: ControllerDefinition<Primary>,
): (object: ObjectOf<Primary>) => boolean {
  const { namespace, labels, where = () => true } = definition;
  const selector = labels === undefined ? everything : parseLabelSelector(labelSelectorText(labels));
  return (object) => {
    const { metadata } = metaOf(object);
    if (namespace !== undefined && metadata.namespace !== namespace) return false;
    return matchesLabels(selector, metadata.labels) && where(object);
  };
}

/** A name alone is one of the namespace of the object that told it, where its kind lives in namespaces. */
export function placedKey(key: string, { scope }: Kind, teller: unknown): string {
  const { namespace } = metaOf(teller).metadata;
  return scope === 'Cluster' || namespace === undefined || key.includes('/') ? key : `${namespace}/${key}`;
}

function keyOfWhich(which: Which): string {
  if (typeof which === 'string') return which;
  if ('metadata' in which) return keyOf(which);
  return which.namespace === undefined ? which.name : `${which.namespace}/${which.name}`;
}

/** Kinds of definitions are made anew with each change of the definition. */
function isSameKind(one: Kind, other: Kind): boolean {
  return one === other || (one.kind === other.kind && one.group === other.group && one.version === other.version);
}

/** Every object has metadata, whatever its kind. */
function metaOf(object: unknown): ApiObject {
  return object as ApiObject;
}
