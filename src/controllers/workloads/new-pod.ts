/**
 * Pods made from the template of their controller.
 */

import type { Client } from '../../client/client.js';
import { Pod, type PodInput } from '../../kinds/core/v1/pod/pod.js';
import { StatusError } from '../../meta/errors.js';
import type { DeepReadonly, OwnerReference } from '../../meta/object.js';
import { copyJson } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import type { EventRecorder } from '../runtime/events.js';
import { type AnyObject, controllerReference } from '../runtime/owners.js';
import { isNamespaceTerminating } from '../runtime/refusals.js';
import type { StoredPod } from './pod-state.js';

/** The part of a workload that its pods are made of. */
export interface PodTemplateLike {
  readonly metadata?: DeepReadonly<PodInput['metadata']> | undefined;
  readonly spec?: DeepReadonly<PodInput['spec']> | undefined;
}

const LONGEST_NAME = 253;

/** What names are generated from. The dash is for the looks of it: where it does not fit it is left out. */
export function podPrefix(owner: string): string {
  return owner.length < LONGEST_NAME ? `${owner}-` : owner;
}

/** What to send to make a pod of the template. Draft: callers put in what is theirs. */
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
 * Makes a pod and tells about it in an event on its owner. Rejects when it is refused, with an event unless the whole
 * namespace is going away: see {@link isNamespaceTerminating}.
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
 * Deletes a pod and tells about it in an event on its owner. One that is gone already is none of its concern. Rejects,
 * with an event, when that is refused.
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
