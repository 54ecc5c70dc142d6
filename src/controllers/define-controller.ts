/**
 * A declarative way to write a controller: name the kind, the related kinds and the reconcile function. This module sets up
 * the informers and the work queue, adds and removes the finalizer and retries failures. The general contract of a
 * controller is in `runtime/controller.ts`.
 */

import { type LabelsOption, labelSelectorText } from '../client/selectors.js';
import type { Kind, ObjectOf } from '../kinds/kind.js';
import { StatusError } from '../meta/errors.js';
import { everything, matchesLabels, parseLabelSelector } from '../meta/labels.js';
import { qualifiedNameProblems } from '../meta/names.js';
import type { ApiObject } from '../meta/object.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { refuseUnknownOptions } from '../util/options.js';
import { type Controller, type ControllerContext, ControllerPart } from './runtime/controller.js';
import type { EventType } from './runtime/events.js';
import { controllerOf } from './runtime/owners.js';
import { keyOf, type ObjectName, type SharedInformer, splitKey } from './runtime/shared-informer.js';
import { type Backoff, checkedBackoff, type ReconcileResult } from './runtime/work-queue.js';

// biome-ignore lint/suspicious/noConfusingVoidType: most reconcile functions return nothing.
type Reconciled = MaybePromise<ReconcileResult | void>;

export interface ControllerDefinition<Primary extends Kind> {
  /** Unique among the controllers of a run. Appears in Events and error messages. */
  readonly name: string;
  /**
   * The service account for its writes and reads when controllers run with their own accounts (`accounts: 'own'`): a name
   * in kube-system, or `namespace/name`. Absent: the controller's name in kube-system.
   */
  readonly account?: string | undefined;
  /** The field manager of its writes, unless the run options name one. Absent: the controller's name. */
  readonly fieldManager?: string | undefined;
  /** The kind to reconcile. */
  readonly kind: Primary;
  /** Reconciles only objects in this namespace. */
  readonly namespace?: string | undefined;
  /** Reconciles only objects with these labels. */
  readonly labels?: LabelsOption | undefined;
  /** Reconciles only objects for which this returns true. */
  readonly where?: ((object: ObjectOf<Primary>) => boolean) | undefined;
  /** Kinds of child objects. A change to one reconciles the object that is its controller owner. */
  readonly owns?: readonly Kind[] | undefined;
  /** Other kinds, with a mapping from a changed object to the objects to reconcile; see {@link watching}. */
  readonly watches?: readonly WatchSource[] | undefined;
  /** Kinds that `context.informer` may read. A change to them does not cause a reconcile. */
  readonly reads?: readonly Kind[] | undefined;
  /**
   * Brings the cluster to the state that the object describes. Called for every object that exists or changes, one call at
   * a time per object. The informers already contain everything that earlier calls wrote. Objects that are being deleted
   * are skipped unless `whileDeleting` is set.
   */
  readonly reconcile: (object: ObjectOf<Primary>, context: ReconcileContext) => Reconciled;
  /** Called when an object is deleted or no longer matches the selection. */
  readonly onGone?: ((name: ObjectName, context: ReconcileContext) => MaybePromise<void>) | undefined;
  /** A finalizer with the cleanup that must run before an object is removed. */
  readonly finalizer?: Finalizer<Primary> | undefined;
  /** Calls `reconcile` for objects that are being deleted, too. */
  readonly whileDeleting?: boolean | undefined;
  /** Decides when to retry after an error. Undefined: retry with `backoff`. The error is reported in both cases. */
  readonly onError?: ((error: unknown, failure: Failure<Primary>) => ReconcileResult | undefined) | undefined;
  readonly backoff?: Backoff | undefined;
  /** How many objects are reconciled concurrently; 1 unless given. */
  readonly workers?: number | undefined;
  /** True: the controller is left out if its kinds are not served. Otherwise a missing kind is an error. */
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
  /** A qualified name such as `example.com/cleanup`. Added to each object before its first reconcile. */
  readonly name: string;
  /** Runs when the object is being deleted, and is retried until it succeeds. Then the finalizer is removed. */
  readonly cleanup: (object: ObjectOf<Primary>, context: ReconcileContext) => Reconciled;
}

export interface Failure<Primary extends Kind> {
  readonly object: ObjectOf<Primary>;
  /** The number of consecutive failures, including this one. */
  readonly failures: number;
}

/** What `reconcile` may use. */
export interface ReconcileContext
  extends Pick<
    ControllerContext,
    'name' | 'client' | 'clock' | 'dialect' | 'ids' | 'events' | 'now' | 'serves' | 'report'
  > {
  /** The informer of a kind that the definition names. */
  informer<AnyKind extends Kind>(kind: AnyKind): SharedInformer<AnyKind>;
  /** The objects of a kind in `owns` that the reconciled object controls. */
  owned<AnyKind extends Kind>(kind: AnyKind): readonly ObjectOf<AnyKind>[];
  /** Records an Event about the object. */
  event(type: EventType, reason: string, message: string): void;
  /** Queues an object of the controller's kind, immediately or after a delay. */
  requeue(which: ObjectIdentifier, afterMs?: number): void;
}

/** An object, its name, or its key (`namespace/name`). */
export type ObjectIdentifier = string | ObjectName | Pick<ApiObject, 'metadata'>;

/** A watched kind with a mapping to keys of the controller's kind. Made by {@link watching}. */
export interface WatchSource {
  readonly kind: Kind;
  keysOf(object: unknown, context: WatchContext): Iterable<string>;
}

export interface WatchContext {
  informer<AnyKind extends Kind>(kind: AnyKind): SharedInformer<AnyKind>;
}

/**
 * Maps changes of another kind to the objects of the controller's kind to reconcile.
 *
 * @example
 * watching(ConfigMap, ({ metadata }) => [{ name: 'settings', namespace: metadata.namespace ?? 'default' }]);
 */
export function watching<AnyKind extends Kind>(
  kind: AnyKind,
  mapToObjects: (object: ObjectOf<AnyKind>, context: WatchContext) => Iterable<ObjectIdentifier> | undefined,
): WatchSource {
  return {
    kind,
    *keysOf(object, context) {
      for (const which of mapToObjects(object as ObjectOf<AnyKind>, context) ?? []) yield keyOfIdentifier(which);
    },
  };
}

/**
 * Creates a controller of one kind, for `runControllers` or `createCluster({ controllers })`.
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
    start: (context) => new ReconcileLoop(context, { definition, needs }).start(),
  };
}

/** Fails early on mistakes that would otherwise surface with the first object. */
function checkDefinition<Primary extends Kind>(definition: ControllerDefinition<Primary>): void {
  const { name, kind, reconcile, finalizer, backoff } = definition;
  const wrong = (what: string) => new TypeError(`orchplane: defineController: ${what}`);
  if (typeof name !== 'string' || name === '') throw wrong('a controller has a name');
  if (typeof (kind as Partial<Kind> | undefined)?.names?.plural !== 'string') throw wrong(`${name} has no kind`);
  if (typeof reconcile !== 'function') throw wrong(`${name} has no function reconcile`);
  if (backoff !== undefined) checkedBackoff(name, backoff);
  const problems = finalizer === undefined ? [] : qualifiedNameProblems(finalizer.name);
  if (problems.length > 0)
    throw wrong(`${name}: "${finalizer?.name}" is no name of a finalizer: ${problems.join('; ')}`);
}

interface LoopOptions<Primary extends Kind> {
  readonly definition: ControllerDefinition<Primary>;
  readonly needs: readonly Kind[];
}

class ReconcileLoop<Primary extends Kind> extends ControllerPart<LoopOptions<Primary>> {
  readonly #definition = this.options.definition;
  readonly #objects = this.context.informer(this.#definition.kind);
  readonly #queue = this.context.queue((key) => this.#reconcileKey(key), {
    workers: this.#definition.workers,
    backoff: this.#definition.backoff,
  });
  readonly #failures = new Map<string, number>();
  /** Keys that were passed to `reconcile`. Only these are passed to `onGone`. */
  readonly #seen = new Set<string>();
  readonly #isSelected = selectionOf(this.#definition);

  start(): void {
    const { kind: primary, owns = [], watches = [] } = this.#definition;
    // Request every informer before the first subscription, because a mapping may read any of them.
    for (const kind of this.options.needs) this.context.informer(kind);
    this.#objects.onKey((key) => this.#queue.add(key));
    const namespace = primary.scope === 'Cluster' ? undefined : '';
    for (const kind of owns) {
      // Creates the index before the first event.
      this.context.informer(kind).controlledBy({ metadata: { uid: '', namespace } });
      this.#follow({ kind, keysOf: (object) => this.#ownersOf(object as ApiObject) });
    }
    for (const watch of watches) this.#follow(watch);
  }

  /** Queues the keys that the previous and the current state of a changed object map to. */
  #follow({ kind, keysOf }: WatchSource): void {
    const context: WatchContext = { informer: (other) => this.#informer(other) };
    this.context.informer(kind).subscribe((event) => {
      for (const key of keysOf(event.object, context))
        this.#queue.add(keyInNamespaceOf(key, this.#definition.kind, event.object));
      if (event.type !== 'MODIFIED') return;
      for (const key of keysOf(event.previous, context))
        this.#queue.add(keyInNamespaceOf(key, this.#definition.kind, event.previous));
    });
  }

  #ownersOf(object: ApiObject): string[] {
    const { kind } = this.#definition;
    const owner = controllerOf(object);
    if (owner === undefined || owner.kind !== kind.kind) return [];
    const slash = owner.apiVersion.indexOf('/');
    if (this.context.dialect.group(kind.group) !== owner.apiVersion.slice(0, Math.max(0, slash))) return [];
    const { namespace } = object.metadata;
    return [kind.scope === 'Cluster' || namespace === undefined ? owner.name : `${namespace}/${owner.name}`];
  }

  async #reconcileKey(key: string): Promise<ReconcileResult | undefined> {
    const object = this.#objects.at(key);
    if (object === undefined) {
      this.#failures.delete(key);
      await this.#notifyGone(key);
      return undefined;
    }
    const context = this.#reconcileContext(metaOf(object));
    try {
      const again = await this.#handle(key, object, context);
      this.#failures.delete(key);
      return again;
    } catch (error) {
      // The work queue retries a Conflict at once; `onError` is not asked.
      if (StatusError.is(error, 'Conflict')) throw error;
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      const again = requested(this.#definition.onError?.(error, { object, failures }));
      if (again === undefined) throw error;
      this.context.report(error, key);
      return again;
    }
  }

  async #handle(
    key: string,
    object: ObjectOf<Primary>,
    context: ReconcileContext,
  ): Promise<ReconcileResult | undefined> {
    const { finalizer, reconcile, whileDeleting = false } = this.#definition;
    const meta = metaOf(object);
    const isHeld = finalizer !== undefined && (meta.metadata.finalizers ?? []).includes(finalizer.name);
    if (meta.metadata.deletionTimestamp !== undefined) {
      // Also for objects that no longer match the selection: the controller must remove the finalizer it added.
      if (isHeld) {
        const again = await finalizer.cleanup(object, context);
        if (again?.requeueAfterMs !== undefined) return again;
        await this.#setFinalizers(meta, (names) => names.filter((name) => name !== finalizer.name));
        return undefined;
      }
      if (!whileDeleting) return undefined;
    }
    if (!this.#isSelected(object)) {
      await this.#notifyGone(key);
      return undefined;
    }
    if (finalizer !== undefined && !isHeld && meta.metadata.deletionTimestamp === undefined) {
      // The update triggers the next reconcile. `reconcile` never runs without the finalizer.
      await this.#setFinalizers(meta, (names) => [...names, finalizer.name]);
      return undefined;
    }
    this.#seen.add(key);
    return requested(await reconcile(object, context));
  }

  async #notifyGone(key: string): Promise<void> {
    if (!this.#seen.has(key)) return;
    const { onGone } = this.#definition;
    const name = splitKey(key);
    await onGone?.(name, this.#reconcileContext(undefined));
    this.#seen.delete(key);
  }

  /** Updates with the observed resourceVersion. A race is a Conflict, which the queue retries at once. */
  async #setFinalizers(object: ApiObject, change: (names: readonly string[]) => readonly string[]): Promise<void> {
    const { metadata } = object;
    const api = this.context.client.api(this.#definition.kind as Kind, metadata.namespace);
    await api.update({ ...object, metadata: { ...metadata, finalizers: [...change(metadata.finalizers ?? [])] } });
  }

  #reconcileContext(object: ApiObject | undefined): ReconcileContext {
    const { name, client, clock, dialect, ids, events, now, serves, report } = this.context;
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
      owned: (kind) => (object === undefined ? [] : this.#informer(kind).controlledBy(object)),
      event: (type, reason, message) => {
        if (object !== undefined) events.record(object, type, reason, message);
      },
      requeue: (which, afterMs = 0) => this.#queue.addAfter(keyOfIdentifier(which), afterMs),
    };
  }

  /** An informer that is started during a reconcile would still be empty, so only declared kinds are allowed. */
  #informer<AnyKind extends Kind>(kind: AnyKind): SharedInformer<AnyKind> {
    if (this.options.needs.some((need) => isSameKind(need, kind))) return this.context.informer(kind);
    throw new TypeError(
      `orchplane: the controller ${this.context.name} has no informer of ${kind.kind}; name the kind in owns, watches or reads`,
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

/** Completes a bare name with the namespace of the object that triggered the event, for namespaced kinds. */
export function keyInNamespaceOf(key: string, { scope }: Kind, source: unknown): string {
  const { namespace } = metaOf(source).metadata;
  return scope === 'Cluster' || namespace === undefined || key.includes('/') ? key : `${namespace}/${key}`;
}

function keyOfIdentifier(which: ObjectIdentifier): string {
  if (typeof which === 'string') return which;
  if ('metadata' in which) return keyOf(which);
  return which.namespace === undefined ? which.name : `${which.namespace}/${which.name}`;
}

/** Compares by group, version and kind, because the Kind of a CRD is rebuilt when the CRD changes. */
function isSameKind(one: Kind, other: Kind): boolean {
  return one === other || (one.kind === other.kind && one.group === other.group && one.version === other.version);
}

/** Every object has metadata. */
function metaOf(object: unknown): ApiObject {
  return object as ApiObject;
}

/** As in controller-runtime, a delay of zero requests nothing. The queue checks the other ones. */
// biome-ignore lint/suspicious/noConfusingVoidType: most reconcile functions return nothing.
function requested(result: ReconcileResult | undefined | void): ReconcileResult | undefined {
  const { requeueAfterMs } = result ?? {};
  return requeueAfterMs === undefined || requeueAfterMs <= 0 ? undefined : { requeueAfterMs };
}
