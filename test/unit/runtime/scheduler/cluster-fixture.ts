/** A cluster with a scheduler, and inputs of nodes and pods. */
import { defaultAdmission, taintNodesByCondition } from 'orchplane/admission';
import { type Controller, controllers, type RunOptions } from 'orchplane/controllers';
import { CoreEvent, Node, type NodeInput, Pod, type PodInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { type SchedulerOptions, scheduler } from '../../../../src/runtime/scheduler/index.js';

/** A cluster with a scheduler, whose new nodes are ready. */
export function setting(options: SchedulerOptions = {}, others: readonly Controller[] = [], run: RunOptions = {}) {
  const cluster = testCluster({
    admission: defaultAdmission.filter((plugin) => plugin !== taintNodesByCondition),
    controllers: controllers([scheduler(options), ...others], run),
  });
  const pods = cluster.api(Pod);
  return {
    cluster,
    pods,
    nodes: cluster.api(Node),
    events: async () =>
      (await cluster.api(CoreEvent).list()).items.map(
        ({ reason, message, involvedObject }) => `${involvedObject.name} ${reason}: ${message}`,
      ),
    async nodeOf(name: string) {
      return (await pods.get(name)).spec.nodeName;
    },
    async scheduled(name: string) {
      return (await pods.get(name)).status.conditions?.find(({ type }) => type === 'PodScheduled');
    },
  };
}

export function node(name: string, cpu = '1', spec: NodeInput['spec'] = {}): NodeInput {
  return { metadata: { name }, spec, status: { allocatable: { cpu, memory: '4Gi', pods: '10' } } };
}

export function pod(name: string, cpu = '100m', spec: Partial<PodInput['spec']> = {}): PodInput {
  const container = { name: 'app', image: 'nginx:1.29', resources: { requests: { cpu } } };
  return { metadata: { name, labels: { app: name } }, spec: { containers: [container], ...spec } };
}

export const NO_GRACE = { gracePeriodSeconds: 0 };
