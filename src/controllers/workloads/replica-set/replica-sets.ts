/**
 * The controllers of ReplicaSets and ReplicationControllers, which maintain a number of pods.
 */
import { ReplicaSet } from '../../../kinds/apps/v1/replica-set.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import { ReplicationController } from '../../../kinds/core/v1/replication-controller.js';
import type { Controller } from '../../runtime/controller.js';
import { type ReplicaKind, reconcileReplicas } from './keeper.js';

/**
 * Manages the pods of ReplicaSets.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([replicaSets()]) });
 */
export function replicaSets(): Controller {
  return {
    name: 'replicaset-controller',
    account: 'replicaset-controller',
    needs: [ReplicaSet, Pod],
    start: (context) => reconcileReplicas(context, replicaSetKind),
  };
}

/**
 * Manages the pods of ReplicationControllers.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([replicationControllers()]) });
 */
export function replicationControllers(): Controller {
  return {
    name: 'replicationcontroller-controller',
    account: 'replication-controller',
    component: 'replication-controller',
    needs: [ReplicationController, Pod],
    start: (context) => reconcileReplicas(context, replicationControllerKind),
  };
}

const replicaSetKind: ReplicaKind<typeof ReplicaSet> = {
  kind: ReplicaSet,
  reportsTerminating: true,
  read: (object) => {
    const { replicas, minReadySeconds = 0, selector, template } = object.spec;
    return { object, replicas, minReadySeconds, selector, template, status: object.status };
  },
  find: ({ client }, { metadata }) => client.api(ReplicaSet, metadata.namespace).find(metadata.name),
  writeStatus: ({ client }, object, status) =>
    client.api(ReplicaSet, object.metadata.namespace).status.update(object.metadata.name, { ...object, status }),
};

const replicationControllerKind: ReplicaKind<typeof ReplicationController> = {
  kind: ReplicationController,
  reportsTerminating: false,
  read: (object) => {
    const { replicas, minReadySeconds = 0, selector = {}, template = {} } = object.spec;
    return { object, replicas, minReadySeconds, selector: { matchLabels: selector }, template, status: object.status };
  },
  find: ({ client }, { metadata }) => client.api(ReplicationController, metadata.namespace).find(metadata.name),
  writeStatus: ({ client }, object, status) =>
    client.api(ReplicationController, object.metadata.namespace).status.update(object.metadata.name, {
      ...object,
      status,
    }),
};
