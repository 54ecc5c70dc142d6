/**
 * Creates and deletes the pods of workload controllers, in batches that stop early when the server rejects them.
 */

import type { Client } from '../../client/client.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { PodInput } from '../../kinds/generated/core-v1.js';
import { StatusError } from '../../meta/errors.js';
import type { DeepReadonly, OwnerReference } from '../../meta/object.js';
import { copyJson } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import type { EventRecorder } from '../runtime/events.js';
import { isNamespaceTerminating } from '../runtime/expected-errors.js';
import { type AnyObject, controllerReference } from '../runtime/owners.js';
import type { StoredPod } from './pod-state.js';

export interface PodTemplateLike {
  readonly metadata?: DeepReadonly<PodInput['metadata']> | undefined;
  readonly spec?: DeepReadonly<PodInput['spec']> | undefined;
}

const MAX_NAME_LENGTH = 253;

/** The prefix for generated names. The dash is left out if it does not fit. */
export function podPrefix(owner: string): string {
  return owner.length < MAX_NAME_LENGTH ? `${owner}-` : owner;
}

/** The input for a new pod from the template. Callers may modify it. */
export function podFromTemplate(template: PodTemplateLike, owner: AnyObject): PodInput {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const reference: OwnerReference = controllerReference(owner);
  return {
    metadata: {
      generateName: podPrefix(owner.metadata.name),
      ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [reference],
    },
    spec: copyJson(template.spec) as PodInput['spec'],
  };
}

export interface PodControl {
  readonly client: Client;
  readonly events: EventRecorder;
}

/**
 * Creates a pod and records an Event on its owner. Rejects if the create fails, with an Event unless the namespace is
 * terminating (see {@link isNamespaceTerminating}).
 */
export async function createPod({ client, events }: PodControl, pod: PodInput, owner: AnyObject): Promise<StoredPod> {
  try {
    const created = await client.api(Pod, owner.metadata.namespace).create(pod);
    events.record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    return created;
  } catch (error) {
    if (!isNamespaceTerminating(error)) {
      events.record(owner, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`);
    }
    throw error;
  }
}

/**
 * Deletes a pod and records an Event on its owner. A pod that is already gone is ignored. Rejects, with an Event, if the
 * delete fails.
 */
export async function deletePod({ client, events }: PodControl, pod: StoredPod, owner: AnyObject): Promise<void> {
  const { name, namespace } = pod.metadata;
  try {
    await client.api(Pod, namespace).delete(name);
    events.record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
  } catch (error) {
    if (StatusError.is(error, 'NotFound')) return;
    events.record(owner, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`);
    throw error;
  }
}

/**
 * Performs an action for each item in batches of doubling size and stops after the first batch with a failure, because the
 * other items would probably fail too. The batch is completed; then the first failure is thrown.
 */
export async function slowStart<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  maxBatchSize = Infinity,
): Promise<void> {
  for (let done = 0, size = 1; done < items.length; done += size, size = Math.min(2 * size, maxBatchSize)) {
    await allOf(items.slice(done, done + size).map(act));
  }
}

/** Awaits all promises, then throws the first rejection. */
export async function allOf(all: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(all)) if (result.status === 'rejected') throw result.reason;
}
