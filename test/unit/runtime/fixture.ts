/** A cluster with a fake clock whose pods run. */
import { defaultAdmission, inReferenceOrder, serviceAccount } from '../../../src/admission/index.js';
import { controllers, standardControllers } from '../../../src/controllers/index.js';
import { type Cluster, createCluster } from '../../../src/index.js';
import type { PodInput } from '../../../src/kinds/generated/core-v1.js';
import { CoreEvent, Pod } from '../../../src/kinds/index.js';
import { type Image, type Program, type RuntimeOptions, runtime } from '../../../src/runtime/index.js';
import { type FakeClock, fakeClock } from '../../../src/testing/index.js';

/** Runs until it is stopped. */
export const idle: Program = ({ untilStopped }) => untilStopped();

export interface RunningCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly clock: FakeClock;
  /** Creates a pod, of a container `c` with the image unless the spec says otherwise, and waits until nothing happens. */
  start(name: string, image: string, spec?: Partial<NonNullable<PodInput['spec']>>): Promise<void>;
  /** The `reason message` of the Events about a pod, in order. */
  events(name: string): Promise<readonly string[]>;
  pod(name: string): ReturnType<typeof getPod>;
  advance(ms: number): Promise<void>;
}

function getPod(cluster: Cluster, name: string) {
  return cluster.api(Pod).get(name);
}

export function runningCluster(
  images: Readonly<Record<string, Image>>,
  options: Omit<RuntimeOptions, 'images'> = {},
  onError?: (error: unknown, context: string) => void,
): RunningCluster {
  const clock = fakeClock({ now: Date.UTC(2026, 0, 1) });
  const cluster = createCluster({
    dialect: 'kubernetes',
    clock,
    admission: inReferenceOrder([...defaultAdmission, serviceAccount]),
    controllers: controllers(
      [...standardControllers({ certificate: 'the certificate' }), ...runtime({ images, ...options })],
      { onError },
    ),
  });
  return {
    cluster,
    clock,
    async start(name, image, spec = {}) {
      // The default service account has to exist.
      await cluster.settle();
      await cluster.api(Pod).create({ metadata: { name }, spec: { containers: [{ name: 'c', image }], ...spec } });
      await cluster.settle();
    },
    async events(name) {
      const { items } = await cluster.api(CoreEvent).list();
      const about = items.filter(({ involvedObject }) => involvedObject.name === name);
      return about
        .filter(({ reason }) => reason !== 'Scheduled')
        .map(({ reason, message, count }) => `${reason} ${message}${(count ?? 1) > 1 ? ` (x${count})` : ''}`);
    },
    pod: (name) => getPod(cluster, name),
    async advance(ms) {
      await clock.advance(ms);
      await cluster.settle();
    },
    [Symbol.asyncDispose]: () => cluster.close(),
  };
}
