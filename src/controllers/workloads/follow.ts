/**
 * Whom a change of a dependent concerns: the set that controls it, the one that did before, and those that could adopt it.
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
import { selecting } from './selecting.js';

export interface Following<Owner extends Kind, Dependent extends Kind> {
  readonly owners: SharedInformer<Owner>;
  readonly dependents: SharedInformer<Dependent>;
  readonly selectorOf: (owner: Stored<Owner>) => LabelSelectorObject | undefined;
  readonly queue: WorkQueue;
}

/** Adds the keys of owners to the queue, from now on. */
export function follow<Owner extends Kind, Dependent extends Kind>(following: Following<Owner, Dependent>): void {
  const { owners, dependents, selectorOf, queue } = following;
  const selectors = selecting(owners, selectorOf);

  const wakeController = (dependent: Stored<Dependent>, controller: OwnerReference | undefined): void => {
    if (controller?.kind !== owners.kind.kind) return;
    const { namespace } = (dependent as AnyObject).metadata;
    const owner = owners.get(controller.name, namespace) as AnyObject | undefined;
    if (owner?.metadata.uid === controller.uid) queue.add(keyOf(owner));
  };
  const wakeAdopters = (orphan: Stored<Dependent>): void => {
    const { namespace = '', labels } = (orphan as AnyObject).metadata;
    for (const owner of selectors(namespace, labels)) queue.add(keyOf(owner as AnyObject));
  };

  onDependents(dependents, wakeController, wakeAdopters);
}

/**
 * Tells of every change of a dependent under its controller, or none; under the one that it had, where that is another; and
 * of an orphan that somebody might adopt by now.
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
    let isNews = event.type === 'ADDED';
    if (event.type === 'MODIFIED') {
      const previous = event.previous as AnyObject;
      const before = controllerOf(previous);
      const isReleased = before?.uid !== controller?.uid;
      if (isReleased) changed(event.previous, before);
      isNews = isReleased || !deepEqual(previous.metadata.labels, object.metadata.labels);
    }
    if (isNews && controller === undefined && !isTerminating(object)) adoptable(event.object);
  });
}
