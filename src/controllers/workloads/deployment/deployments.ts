/**
 * The controller of Deployments: maintains one ReplicaSet per template and rolls out changes.
 */
import { Deployment } from '../../../kinds/apps/v1/deployment.js';
import { ReplicaSet } from '../../../kinds/apps/v1/replica-set.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import type { Controller, ControllerContext } from '../../runtime/controller.js';
import { keyOf } from '../../runtime/shared-informer.js';
import { claims, controllerAmong, queueOwners, templateSelection } from '../dependents.js';
import type { StoredPod } from '../pod-state.js';
import {
  annotationKeys,
  type DeploymentEnvironment,
  oldestOf,
  type StoredDeployment,
  type StoredReplicaSet,
  sameTemplate,
} from './replica-sets.js';
import { Rollout } from './rollout.js';

const WORKERS = 5;

/**
 * Rolls out Deployments. It needs `replicaSets()` to create the pods.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([deployments(), replicaSets()]) });
 */
export function deployments(): Controller {
  return {
    name: 'deployment-controller',
    account: 'deployment-controller',
    needs: [Deployment, ReplicaSet, Pod],
    start,
  };
}

function start(context: ControllerContext): void {
  const all = context.informer(Deployment);
  const sets = context.informer(ReplicaSet);
  const pods = context.informer(Pod);
  const claim = claims(context, Deployment, ReplicaSet);
  const withTemplate = templateSelection(
    (template: StoredDeployment['spec']['template']) => (set: StoredReplicaSet) =>
      sameTemplate(set.spec.template, template),
  );
  const environment: DeploymentEnvironment = {
    context,
    pods,
    keys: annotationKeys(context.dialect),
    reportsTerminating: context.features?.enabled('DeploymentReplicaSetTerminatingReplicas') ?? false,
  };

  const queue = context.queue(
    async (key) => {
      const deployment = all.at(key);
      // The delay is computed again below.
      queue.cancelDelay(key);
      if (deployment === undefined) return undefined;
      const own = await claim(deployment, deployment.spec.selector);
      const equal = await withTemplate(own, deployment.spec.template);
      return new Rollout(environment, deployment, { sets: own, newest: oldestOf(equal) }).run();
    },
    { workers: WORKERS },
  );

  all.onKey((key) => queue.add(key));
  queueOwners({ owners: all, dependents: sets, selectorOf: ({ spec }) => spec.selector, queue });
  // A Recreate rollout waits for the last old pod.
  pods.subscribe(({ type, object }) => {
    if (type !== 'DELETED') return;
    const deployment = deploymentOfPod(object);
    if (deployment?.spec.strategy.type === 'Recreate') queue.add(keyOf(deployment));
  });

  function deploymentOfPod(pod: StoredPod): StoredDeployment | undefined {
    const set = controllerAmong(sets, pod);
    return set === undefined ? undefined : controllerAmong(all, set);
  }
}
