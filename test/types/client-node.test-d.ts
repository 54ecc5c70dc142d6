/** connectKubeConfig accepts the KubeConfig of both releases of client-node, and returns the same type. */
import { KubeConfig } from '@kubernetes/client-node';
import { KubeConfig as KubeConfig2 } from 'client-node-2';
import { createCluster } from 'orchplane';
import { connectKubeConfig, createInProcessAgent } from 'orchplane/node';
import { expectTypeOf } from 'vitest';

const agent = createInProcessAgent(createCluster());
expectTypeOf(connectKubeConfig(new KubeConfig(), agent)).toEqualTypeOf<KubeConfig>();
expectTypeOf(connectKubeConfig(new KubeConfig2(), agent)).toEqualTypeOf<KubeConfig2>();
// @ts-expect-error a kubeconfig is not its text
connectKubeConfig(agent.kubeconfig, agent);
