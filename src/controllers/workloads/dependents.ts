/**
 * The dependents of a workload controller: those with its controller reference that match its selector. Matching orphans are
 * adopted; its own dependents that no longer match are released. Changes of dependents queue their owners. Indexes by one label
 * of the selector avoid scanning the namespace.
 * upstream: pkg/controller/controller_ref_manager.go BaseControllerRefManager.ClaimObject
 */
import type { Client } from '../../client/client.js';
import { type StrategicPatchBody, strategicPatch } from '../../client/patches.js';
import type { Kind, ObjectOf } from '../../kinds/kind.js';
import type { LabelSelectorObject, Labels } from '../../meta/labels.js';
import { labelSelectorFromObject, matchesLabels, selectsLabels } from '../../meta/labels.js';
import type { ApiObject, OwnerReference } from '../../meta/object.js';
import { inTurns } from '../../util/clock.js';
import { deepEqual } from '../../util/json.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { ControllerContext } from '../runtime/controller.js';
import { ignoring } from '../runtime/expected-errors.js';
import { type AnyObject, controllerOf, controllerReference, type HasMetadata, type Owner } from '../runtime/owners.js';
import { keyOf, type SharedInformer } from '../runtime/shared-informer.js';
import type { WorkQueue } from '../runtime/work-queue.js';
import { isTerminating } from './pod-state.js';

interface ClaimOptions<Dependent extends Kind> {
  /** Objects for which this returns false are neither claimed nor released. */
  readonly considers?: (candidate: ObjectOf<Dependent>) => boolean;
  /** An additional condition besides the selector. */
  readonly fits?: (candidate: ObjectOf<Dependent>) => boolean;
  /** Added to the patch of an adoption. */
  readonly finalizers?: readonly string[];
}

/** Returns the dependents of an owner after adoptions and releases. Rejects if one of those failed. */
export type Claim<Dependent extends Kind> = (
  owner: AnyObject,
  selector: LabelSelectorObject | undefined,
  options?: ClaimOptions<Dependent>,
) => Promise<ObjectOf<Dependent>[]>;

export function claims<Dependent extends Kind>(
  { client, informer }: Pick<ControllerContext, 'client' | 'informer'>,
  ownerKind: Kind,
  kind: Dependent,
): Claim<Dependent> {
  const candidatesOf = candidateIndex(informer(kind));

  /** Reads the owner from the server: it may have been deleted or replaced. */
  const canAdopt = async ({ metadata }: AnyObject): Promise<boolean> => {
    const now = await anyApi(client, ownerKind, metadata.namespace).find(metadata.name);
    return now?.metadata.uid === metadata.uid && now.metadata.deletionTimestamp === undefined;
  };
  /** Undefined if the object is gone or another object has its name. */
  const patch = ({ metadata }: AnyObject, changes: StrategicPatchBody<ApiObject['metadata']>) => {
    const { name, namespace, uid } = metadata;
    const body = strategicPatch<ApiObject>({ metadata: { uid, ...changes } });
    return ignoring(['NotFound', 'Invalid'], anyApi(client, kind, namespace).patch(name, body));
  };

  return async (owner, selectorObject, { considers = () => true, fits = () => true, finalizers } = {}) => {
    const selector = labelSelectorFromObject(selectorObject);
    const { uid, deletionTimestamp } = owner.metadata;
    const claimed: ObjectOf<Dependent>[] = [];
    let mayAdopt: boolean | undefined;
    for (const candidate of candidatesOf(owner, selectorObject)) {
      if (!considers(candidate)) continue;
      const { metadata } = candidate;
      const controller = controllerOf(candidate);
      const matches = matchesLabels(selector, metadata.labels) && fits(candidate);
      if (controller !== undefined) {
        if (controller.uid !== uid) continue;
        if (matches) claimed.push(candidate);
        else if (deletionTimestamp === undefined)
          await patch(candidate, { ownerReferences: [{ $patch: 'delete', uid }] });
        continue;
      }
      if (!matches || deletionTimestamp !== undefined || metadata.deletionTimestamp !== undefined) continue;
      mayAdopt ??= await canAdopt(owner);
      if (!mayAdopt) continue;
      const ownerReferences = [{ ...controllerReference(owner) }];
      const adopted = await patch(candidate, { ownerReferences, ...(finalizers && { finalizers }) });
      if (adopted !== undefined) claimed.push(adopted as ObjectOf<Dependent>);
    }
    return claimed;
  };
}

/**
 * Reports whether a new dependent will match the selector of its owner, with an Event if not. The owner would release it at once and
 * create another one, without end: a controller may set a label that the selector requires with another value.
 */
export function matchesSelector(
  { events }: Pick<ControllerContext, 'events'>,
  owner: AnyObject & { readonly spec: { readonly selector?: LabelSelectorObject | undefined } },
  labels: Labels | undefined,
): boolean {
  const matches = selectsLabels(owner.spec.selector, labels);
  if (!matches) {
    const message = 'Error creating: the selector does not match the labels that the controller sets';
    events.record(owner, 'Warning', 'FailedCreate', message);
  }
  return matches;
}

/** The API of a generic kind, whose type says nothing about patches. */
function anyApi(client: Client, kind: Kind, namespace: string | undefined) {
  return client.api(kind as Kind<ApiObject, ApiObject, 'Namespaced'>, namespace);
}

/** Returns the dependents that have the template. */
export type TemplateSelection<Dependent, Template> = (
  dependents: readonly Dependent[],
  template: Template,
) => MaybePromise<Dependent[]>;

/**
 * An owner may have many dependents with long templates and is reconciled often. So the result of the last comparison of a
 * dependent is kept, and a long selection runs in turns.
 */
export function templateSelection<Dependent extends object, Template extends object>(
  hasTemplate: (template: Template) => (dependent: Dependent) => boolean,
): TemplateSelection<Dependent, Template> {
  const kept = new WeakMap<Dependent, { readonly template: Template; readonly isEqual: boolean }>();
  function* select(dependents: readonly Dependent[], template: Template): Generator<undefined, Dependent[]> {
    const isEqualTo = hasTemplate(template);
    const selected: Dependent[] = [];
    for (const dependent of dependents) {
      let last = kept.get(dependent);
      if (last?.template !== template) {
        last = { template, isEqual: isEqualTo(dependent) };
        if (Object.isFrozen(dependent) && Object.isFrozen(template)) kept.set(dependent, last);
        yield;
      }
      if (last.isEqual) selected.push(dependent);
    }
    return selected;
  }
  return (dependents, template) => inTurns(select(dependents, template));
}

export interface DependentWatch<Owner extends Kind, Dependent extends Kind> {
  readonly owners: SharedInformer<Owner>;
  readonly dependents: SharedInformer<Dependent>;
  readonly selectorOf: (owner: ObjectOf<Owner>) => LabelSelectorObject | undefined;
  readonly queue: WorkQueue;
  /** True: a new dependent that has a controller queues nothing. */
  readonly ignoresNew?: boolean | undefined;
}

export function queueOwners<Owner extends Kind, Dependent extends Kind>(watch: DependentWatch<Owner, Dependent>): void {
  const { owners, dependents, selectorOf, queue, ignoresNew } = watch;
  const selectors = selectorIndex(owners, selectorOf);

  const queueController = (dependent: ObjectOf<Dependent>): void => {
    const owner = controllerAmong(owners, dependent as AnyObject);
    if (owner !== undefined) queue.add(keyOf(owner as AnyObject));
  };
  const queueAdopters = (orphan: ObjectOf<Dependent>): void => {
    const { namespace = '', labels } = (orphan as AnyObject).metadata;
    for (const owner of selectors(namespace, labels)) queue.add(keyOf(owner as AnyObject));
  };

  onDependents(dependents, queueController, queueAdopters, { ignoresNew });
}

/** The controller owner of an object, if it is of this kind and has the same uid. */
export function controllerAmong<AnyKind extends Kind>(
  owners: SharedInformer<AnyKind>,
  object: HasMetadata,
): ObjectOf<AnyKind> | undefined {
  const controller = controllerOf(object);
  if (controller?.kind !== owners.kind.kind) return undefined;
  const owner = owners.get(controller.name, object.metadata.namespace);
  return (owner as HasMetadata | undefined)?.metadata.uid === controller.uid ? owner : undefined;
}

/**
 * Calls `changed` for every change of a dependent with its controller, or undefined, and with the previous controller if that
 * differs. Calls `adoptable` for orphans that are new, released or relabelled. With `ignoresNew`, `changed` is not called for
 * new dependents.
 */
export function onDependents<Dependent extends Kind>(
  dependents: SharedInformer<Dependent>,
  changed: (dependent: ObjectOf<Dependent>, controller: OwnerReference | undefined) => void,
  adoptable: (orphan: ObjectOf<Dependent>) => void,
  { ignoresNew = false }: { readonly ignoresNew?: boolean | undefined } = {},
): void {
  dependents.subscribe((event) => {
    const object = event.object as AnyObject;
    const controller = controllerOf(object);
    if (!ignoresNew || event.type !== 'ADDED' || isTerminating(object)) changed(event.object, controller);
    let mayBeAdopted = event.type === 'ADDED';
    if (event.type === 'MODIFIED') {
      const previous = event.previous as AnyObject;
      const before = controllerOf(previous);
      const isReleased = before?.uid !== controller?.uid;
      if (isReleased) changed(event.previous, before);
      mayBeAdopted = isReleased || !deepEqual(previous.metadata.labels, object.metadata.labels);
    }
    if (mayBeAdopted && controller === undefined && !isTerminating(object)) adoptable(event.object);
  });
}

/** Returns the objects in a namespace whose selector matches the labels. An empty selector matches nothing. */
export type SelectorIndex<Object> = (namespace: string, labels: Labels | undefined) => readonly Object[];

export function selectorIndex<AnyKind extends Kind>(
  informer: SharedInformer<AnyKind>,
  selectorOf: (object: ObjectOf<AnyKind>) => LabelSelectorObject | undefined,
): SelectorIndex<ObjectOf<AnyKind>> {
  const byLabel = informer.index('a label that its selector asks for', (object) => [
    firstIndexKey(namespaceOf(object), selectorOf(object)?.matchLabels ?? {}),
  ]);
  return (namespace, labels = {}) => {
    const candidates = [firstIndexKey(namespace, {}), ...indexKeys(namespace, labels)].flatMap(byLabel);
    return candidates.filter((candidate) => {
      const selector = labelSelectorFromObject(selectorOf(candidate));
      return selector.requirements.length > 0 && matchesLabels(selector, labels);
    });
  };
}

/** Returns the objects that an owner controls, and those without controller that may match its selector. */
export type CandidateIndex<Object> = (owner: Owner, selector: LabelSelectorObject | undefined) => Object[];

export function candidateIndex<AnyKind extends Kind>(
  informer: SharedInformer<AnyKind>,
): CandidateIndex<ObjectOf<AnyKind>> {
  const orphans = informer.index('a label of an orphan', (object) => {
    if (controllerOf(object as ApiObject) !== undefined) return [];
    const namespace = namespaceOf(object);
    return [firstIndexKey(namespace, {}), ...indexKeys(namespace, (object as ApiObject).metadata.labels ?? {})];
  });
  return (owner, selector) => [
    ...informer.controlledBy(owner),
    ...(selector === undefined ? [] : orphans(firstIndexKey(namespaceOf(owner), selector.matchLabels ?? {}))),
  ];
}

/** The index key of the first label; without labels the key of the namespace. */
function firstIndexKey(namespace: string, labels: Labels): string {
  return indexKeys(namespace, labels)[0] ?? `${namespace}/`;
}

function indexKeys(namespace: string, labels: Labels): string[] {
  return Object.entries(labels).map(([key, value]) => `${namespace}/${key}=${value}`);
}

function namespaceOf(object: unknown): string {
  return (object as ApiObject).metadata.namespace ?? '';
}
