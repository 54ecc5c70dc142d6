/**
 * Creates the page's cluster: all controllers, and nodes whose pods run the programs of `programs/`. `drive-clock.ts`
 * advances its clock.
 */
import { type ClusterState, type ControllerStarter, memoryStorage, randomIds } from 'orchplane';
import { controllers, standardControllers } from 'orchplane/controllers';
import { runtime } from 'orchplane/runtime';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { images } from '../programs/index.js';

export const NODES = ['node-1', 'node-2'] as const;

function playgroundControllers(): ControllerStarter {
  return controllers([...standardControllers(), ...runtime({ images, nodes: NODES, metrics: true })], {
    // Controllers try again, and the status of the object or an Event says what failed: it is part of the lesson.
    onError: (error, context) => console.debug(context, error),
  });
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
    ...(from === undefined ? {} : { from, ids: randomIds }),
  });
}
