/**
 * Creates the page's cluster: all controllers, and stages instead of a kubelet, with delays that make a rollout
 * visible. `drive-clock.ts` advances its clock.
 */
import { type ClusterState, type ControllerStarter, memoryStorage, randomIds } from 'orchplane';
import { controllers, crashLoop, readyPods, slowStart, stages, standardControllers } from 'orchplane/controllers';
import { type TestCluster, testCluster } from 'orchplane/testing';

/** Pods with this label crash repeatedly. */
export const CRASHING = { 'playground/crash': 'true' } as const;

function playgroundControllers(): ControllerStarter {
  return controllers([
    ...standardControllers(),
    stages([
      ...crashLoop({ labels: CRASHING }),
      ...slowStart({ pullMs: { min: 600, max: 1_800 }, startMs: { min: 400, max: 900 } }),
      ...readyPods(),
    ]),
  ]);
}

export interface ClusterOptions {
  /** The objects that it starts with. */
  readonly from?: ClusterState;
  /** The start time in milliseconds; the current time by default. */
  readonly now?: number;
}

export function makeCluster(
  controllerStarter: ControllerStarter = playgroundControllers(),
  { from, now = Date.now() }: ClusterOptions = {},
): TestCluster {
  return testCluster({
    dialect: 'kubernetes',
    now,
    storage: memoryStorage({ history: 10_000 }),
    controllers: controllerStarter,
    // Sequential uids could collide with the uids of these objects.
    ...(from === undefined ? {} : { from, ids: randomIds }),
  });
}
