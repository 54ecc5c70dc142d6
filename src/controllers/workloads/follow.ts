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

  const wakeController = (dependent: AnyObject, controller: OwnerReference | undefined): void => {
    if (controller?.kind !== owners.kind.kind) return;
    const owner = owners.get(controller.name, dependent.metadata.namespace) as AnyObject | undefined;
    if (owner?.metadata.uid === controller.uid) queue.add(keyOf(owner));
  };
  const wakeAdopters = (dependent: AnyObject): void => {
    if (isTerminating(dependent)) return;
    const { namespace = '', labels } = dependent.metadata;
    for (const owner of selectors(namespace, labels)) queue.add(keyOf(owner as AnyObject));
  };

  dependents.subscribe((event) => {
    const object = event.object as AnyObject;
    const controller = controllerOf(object);
    wakeController(object, controller);
    let isNews = event.type === 'ADDED';
    if (event.type === 'MODIFIED') {
      const previous = event.previous as AnyObject;
      const before = controllerOf(previous);
      const isReleased = before?.uid !== controller?.uid;
      if (isReleased) wakeController(previous, before);
      isNews = isReleased || !deepEqual(previous.metadata.labels, object.metadata.labels);
    }
    if (isNews && controller === undefined) wakeAdopters(object);
  });
}
