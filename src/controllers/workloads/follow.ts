/**
 * Maps changes of dependents to owners: the controller, the previous controller, and those that could adopt an orphan.
 */
import type { Stored } from '../../client/api.js';
import type { Kind } from '../../kinds/kind.js';
import type { LabelSelectorObject } from '../../meta/labels.js';
import type { OwnerReference } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';
import { type AnyObject, controllerOf } from '../runtime/owners.js';
import { keyOf, type SharedInformer } from '../runtime/shared-informer.js';
import type { WorkQueue } from '../runtime/work-queue.js';
import { isTerminating } from './pod-state.js';
import { selectorIndex } from './selecting.js';

export interface DependentWatch<Owner extends Kind, Dependent extends Kind> {
  readonly owners: SharedInformer<Owner>;
  readonly dependents: SharedInformer<Dependent>;
  readonly selectorOf: (owner: Stored<Owner>) => LabelSelectorObject | undefined;
  readonly queue: WorkQueue;
}

/** Queues owners when their dependents change. */
export function queueOwners<Owner extends Kind, Dependent extends Kind>(watch: DependentWatch<Owner, Dependent>): void {
  const { owners, dependents, selectorOf, queue } = watch;
  const selectors = selectorIndex(owners, selectorOf);

  const queueController = (dependent: Stored<Dependent>, controller: OwnerReference | undefined): void => {
    if (controller?.kind !== owners.kind.kind) return;
    const { namespace } = (dependent as AnyObject).metadata;
    const owner = owners.get(controller.name, namespace) as AnyObject | undefined;
    if (owner?.metadata.uid === controller.uid) queue.add(keyOf(owner));
  };
  const queueAdopters = (orphan: Stored<Dependent>): void => {
    const { namespace = '', labels } = (orphan as AnyObject).metadata;
    for (const owner of selectors(namespace, labels)) queue.add(keyOf(owner as AnyObject));
  };

  onDependents(dependents, queueController, queueAdopters);
}

/**
 * Calls `changed` for every change of a dependent with its controller, or undefined, and with the previous controller if that
 * differs. Calls `adoptable` for orphans that are new, released or relabelled.
 */
export function onDependents<Dependent extends Kind>(
  dependents: SharedInformer<Dependent>,
  changed: (dependent: Stored<Dependent>, controller: OwnerReference | undefined) => void,
  adoptable: (orphan: Stored<Dependent>) => void,
): void {
  dependents.subscribe((event) => {
    const object = event.object as AnyObject;
    const controller = controllerOf(object);
    changed(event.object, controller);
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
