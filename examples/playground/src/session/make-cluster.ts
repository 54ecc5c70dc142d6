/**
 * The cluster of the page: every controller, and stages in place of a kubelet that take their time, so that a rollout
 * can be seen. Its clock is moved by `drive-clock.ts`.
 */
import { type ClusterState, type ControllerStarter, memoryStorage, randomIds } from 'orchplane';
import { controllers, crashLoop, readyPods, slowStart, stages, standardControllers } from 'orchplane/controllers';
import { type TestCluster, testCluster } from 'orchplane/testing';

/** Pods with this label crash, again and again. */
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

export interface Beginning {
  /** Objects that it starts with. */
  readonly from?: ClusterState;
  /** In milliseconds; the present unless given. */
  readonly now?: number;
}

export function makeCluster(
  companion: ControllerStarter = playgroundControllers(),
  { from, now = Date.now() }: Beginning = {},
): TestCluster {
  return testCluster({
    dialect: 'kubernetes',
    now,
    storage: memoryStorage({ history: 10_000 }),
    controllers: companion,
    // Identities that count from one would meet those that the objects have already.
    ...(from === undefined ? {} : { from, ids: randomIds }),
  });
}
