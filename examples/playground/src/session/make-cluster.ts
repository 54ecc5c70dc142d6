/**
 * Creates the page's cluster: all controllers, and nodes whose pods run the programs of `programs/`. `drive-clock.ts`
 * advances its clock.
 */
import { type ApiObject, type ClusterState, type ControllerStarter, memoryStorage, randomIds } from 'orchplane';
import { controllers, standardControllers } from 'orchplane/controllers';
import { runtime } from 'orchplane/runtime';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { images } from '../programs/index.js';

export const NODES = ['node-1', 'node-2'] as const;

function playgroundControllers(): ControllerStarter {
  return controllers([...standardControllers(), ...runtime({ images, nodes: NODES, metrics: true })]);
}

/** The metrics server of another cluster does not run in this one, which creates its own. */
function withoutMetricsServer(state: ClusterState): ClusterState {
  const isOfIt = ({ kind, metadata: { name, namespace } }: ApiObject): boolean =>
    namespace === 'kube-system' && name.startsWith('metrics-server') && /^(Pod|Endpoint)/.test(kind);
  return { ...state, objects: state.objects.filter((object) => !isOfIt(object)) };
}

export interface ClusterOptions {
  /** The objects that it starts with. */
  readonly from?: ClusterState;
  /** The start time in milliseconds; the current time by default. */
  readonly now?: number;
}

export function makeCluster({ from, now = Date.now() }: ClusterOptions = {}): TestCluster {
  return testCluster({
    dialect: 'kubernetes',
    now,
    storage: memoryStorage({ history: 10_000 }),
    controllers: playgroundControllers(),
    // Sequential uids could collide with the uids of these objects.
    ...(from === undefined ? {} : { from: withoutMetricsServer(from), ids: randomIds }),
  });
}
