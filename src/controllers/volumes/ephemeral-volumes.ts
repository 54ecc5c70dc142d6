/**
 * Creates the claims of ephemeral volumes. The garbage collector deletes them with their pod.
 */
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { StatusError } from '../../meta/errors.js';
import { withoutUndefined } from '../../util/json.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { controllerReference } from '../runtime/owners.js';
import { keyOf, type SharedInformer } from '../runtime/shared-informer.js';
import type { StoredPod } from './matching.js';
import { ephemeralClaimName, ephemeralOwnerProblem, podsByClaim } from './pod-claims.js';

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
