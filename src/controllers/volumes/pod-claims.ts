/**
 * The claims that pods use: those they name, and those of their ephemeral volumes, which a controller creates and the garbage
 * collector deletes with their pod. Finalizers keep claims and volumes that are in use.
 */

import { isSameOrNewerVersion } from '../../client/informer.js';
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import { withoutUndefined } from '../../util/json.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { controllerReference, isControlledBy } from '../runtime/owners.js';
import { keyOf, type Lookup, type SharedInformer } from '../runtime/shared-informer.js';
import { type StoredClaim, type StoredPod, volumeNames } from './matching.js';

type Volume = NonNullable<StoredPod['spec']['volumes']>[number];

export function ephemeralClaimName(pod: StoredPod, volume: Volume): string {
  return `${pod.metadata.name}-${volume.name}`;
}

/** The error message if an existing claim does not belong to the pod's ephemeral volume; undefined if it does. */
export function ephemeralOwnerProblem(pod: StoredPod, claim: StoredClaim): string | undefined {
  if (claim.metadata.namespace === pod.metadata.namespace && isControlledBy(claim, pod)) return undefined;
  return (
    `PVC ${claim.metadata.namespace}/${claim.metadata.name} was not created for pod ` +
    `${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`
  );
}

export function claimKeysOf(pod: StoredPod): readonly string[] {
  const keys: string[] = [];
  for (const volume of pod.spec.volumes ?? []) {
    const name =
      volume.persistentVolumeClaim?.claimName ??
      (volume.ephemeral === undefined ? undefined : ephemeralClaimName(pod, volume));
    if (name !== undefined) keys.push(`${pod.metadata.namespace}/${name}`);
  }
  return keys;
}

/** An index of pods by the key of a claim that they use. */
export function podsByClaim(context: ControllerContext): Lookup<StoredPod> {
  return context.informer(Pod).index('claims that it uses', claimKeysOf);
}

/** Whether no container of the pod runs any more. */
export function isShutDown({ metadata, status }: StoredPod): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return true;
  if (metadata.deletionTimestamp === undefined) return false;
  return (status.containerStatuses ?? []).every(
    ({ state }) => state?.terminated !== undefined || state?.waiting !== undefined,
  );
}

/**
 * Creates the PersistentVolumeClaims of pods with ephemeral volumes.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([ephemeralVolumes(), persistentVolumes()]) });
 */
export function ephemeralVolumes(): Controller {
  return {
    name: 'ephemeral-volume-controller',
    account: 'ephemeral-volume-controller',
    component: 'ephemeral_volume',
    needs: [Pod, PersistentVolumeClaim],
    start(context) {
      const pods = context.informer(Pod);
      const claims = context.informer(PersistentVolumeClaim);
      const podsOf = podsByClaim(context);

      const queue = context.queue(async (key) => {
        const pod = pods.at(key);
        if (pod !== undefined && wantsClaims(pod)) await makeClaims(context, pod, claims);
      });

      pods.onKey((key, { type, object }) => {
        if (type === 'ADDED' && wantsClaims(object)) queue.add(key);
      });
      claims.onKey((key, { type }) => {
        if (type !== 'DELETED') return;
        for (const pod of podsOf(key)) if (wantsClaims(pod)) queue.add(keyOf(pod));
      });
    },
  };
}

function wantsClaims({ metadata, spec }: StoredPod): boolean {
  return (
    metadata.deletionTimestamp === undefined && spec.volumes?.some(({ ephemeral }) => ephemeral !== undefined) === true
  );
}

async function makeClaims(
  { client, events }: ControllerContext,
  pod: StoredPod,
  claims: SharedInformer<typeof PersistentVolumeClaim>,
): Promise<void> {
  const { namespace } = pod.metadata;
  for (const volume of pod.spec.volumes ?? []) {
    const template = volume.ephemeral?.volumeClaimTemplate;
    if (template === undefined) continue;
    const name = ephemeralClaimName(pod, volume);
    const known = claims.get(name, namespace);
    let problem = known === undefined ? undefined : ephemeralOwnerProblem(pod, known);
    if (known === undefined) {
      const { labels, annotations } = template.metadata ?? {};
      try {
        await client.api(PersistentVolumeClaim, namespace).create({
          metadata: {
            name,
            ...withoutUndefined({ annotations, labels }),
            ownerReferences: [controllerReference(pod)],
          },
          spec: template.spec,
        });
      } catch (error) {
        if (!StatusError.is(error)) throw error;
        problem = `create PVC ${name}: ${error.message}`;
      }
    }
    if (problem === undefined) continue;
    events.record(pod, 'Warning', 'FailedBinding', `ephemeral volume ${volume.name}: ${problem}`);
    throw new Error(`pod ${keyOf(pod)}, ephemeral volume ${volume.name}: ${problem}`);
  }
}

/**
 * Delays the deletion of PersistentVolumeClaims until no pod uses them.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([claimProtection()]) });
 */
export function claimProtection(): Controller {
  return {
    name: 'persistentvolumeclaim-protection-controller',
    account: 'pvc-protection-controller',
    needs: [PersistentVolumeClaim, Pod],
    start(context) {
      const { claimProtection: finalizer } = volumeNames(context.dialect);
      const claims = context.informer(PersistentVolumeClaim);
      const pods = context.informer(Pod);
      const podsOf = podsByClaim(context);

      /** The last live list of the pods of a namespace. */
      let listed: Listed | undefined;

      /**
       * Asks the server, because removing the finalizer is final and the informer may not have a pod on its node yet. Claims
       * that are deleted together share one list: a list that is newer than the claim and contains no user is sufficient.
       */
      const isUsedLive = async (claim: StoredClaim): Promise<boolean> => {
        const { namespace = '', resourceVersion } = claim.metadata;
        const isNewEnough = listed?.namespace === namespace && isSameOrNewerVersion(listed.version, resourceVersion);
        if (listed !== undefined && isNewEnough && !listed.pods.some((pod) => uses(pod, claim))) return false;
        const { items: pods, metadata } = await context.client.api(Pod, namespace).list();
        listed = { namespace, pods, version: metadata.resourceVersion ?? '' };
        return pods.some((pod) => uses(pod, claim));
      };

      const queue = context.queue(async (key) => {
        const claim = claims.at(key);
        if (claim === undefined) return;
        await protect(claim, {
          finalizer,
          isUsed: () => podsOf(key).some((pod) => uses(pod, claim)) || isUsedLive(claim),
          update: (metadata) =>
            context.client.api(PersistentVolumeClaim, metadata.namespace).update({ ...claim, metadata }),
        });
      });

      claims.onKey((key, { type, object: { metadata } }) => {
        const has = metadata.finalizers?.includes(finalizer) === true;
        if (type !== 'DELETED' && has === (metadata.deletionTimestamp !== undefined)) queue.add(key);
      });
      pods.subscribe((event) => {
        const { type, object: pod } = event;
        // A pod that runs on a node still uses its claims, so none can be released.
        if (type !== 'DELETED' && !isShutDown(pod) && (pod.spec.nodeName ?? '') !== '') return;
        for (const key of claimKeysOf(pod)) queue.add(key);
        const isAnother = type === 'MODIFIED' && event.previous.metadata.uid !== pod.metadata.uid;
        if (isAnother) for (const key of claimKeysOf(event.previous)) queue.add(key);
      });
    },
  };
}

/**
 * Delays the deletion of PersistentVolumes until they are no longer bound.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([volumeProtection()]) });
 */
export function volumeProtection(): Controller {
  return {
    name: 'persistentvolume-protection-controller',
    account: 'pv-protection-controller',
    needs: [PersistentVolume],
    start(context) {
      const { volumeProtection: finalizer } = volumeNames(context.dialect);
      const volumes = context.informer(PersistentVolume);

      const queue = context.queue(async (name) => {
        const volume = volumes.at(name);
        if (volume === undefined) return;
        await protect(volume, {
          finalizer,
          isUsed: () => volume.status.phase === 'Bound',
          update: (metadata) => context.client.api(PersistentVolume).update({ ...volume, metadata }),
        });
      });

      volumes.onKey((name, { type, object: { metadata } }) => {
        const has = metadata.finalizers?.includes(finalizer) === true;
        if (type !== 'DELETED' && has === (metadata.deletionTimestamp !== undefined)) queue.add(name);
      });
    },
  };
}

interface Protection {
  readonly finalizer: string;
  /** Called only for objects that are being deleted. */
  readonly isUsed: () => boolean | Promise<boolean>;
  readonly update: (metadata: ApiObject['metadata']) => Promise<unknown>;
}

/** Removes the finalizer from an unused object that is being deleted; adds it to an object without it. */
async function protect({ metadata }: Pick<ApiObject, 'metadata'>, protection: Protection): Promise<void> {
  const { finalizer, isUsed, update } = protection;
  const { finalizers = [], deletionTimestamp } = metadata;
  const isHeld = finalizers.includes(finalizer);
  if (deletionTimestamp === undefined) {
    if (!isHeld) await update({ ...metadata, finalizers: [...finalizers, finalizer] });
    return;
  }
  if (!isHeld || (await isUsed())) return;
  await update({ ...metadata, finalizers: finalizers.filter((held) => held !== finalizer) });
}

interface Listed {
  readonly namespace: string;
  readonly version: string;
  readonly pods: readonly StoredPod[];
}

/** Pods without a node do not use a claim yet. Finished pods use it until they are deleted. */
function uses(pod: StoredPod, claim: StoredClaim): boolean {
  if ((pod.spec.nodeName ?? '') === '') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  const isDeletedAtOnce = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
  return (pod.spec.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim?.claimName === claim.metadata.name) return true;
    if (isDeletedAtOnce || volume.ephemeral === undefined) return false;
    return ephemeralClaimName(pod, volume) === claim.metadata.name && ephemeralOwnerProblem(pod, claim) === undefined;
  });
}
