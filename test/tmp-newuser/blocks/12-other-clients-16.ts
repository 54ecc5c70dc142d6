import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { createCluster } from 'orchplane';
import { serve } from 'orchplane/node';

const cluster = createCluster({ dialect: 'kubernetes' });
await using server = await serve(cluster, { tls: true });

const config = new KubeConfig();
config.loadFromString(server.kubeconfig);
const core = config.makeApiClient(CoreV1Api);
await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'web' } } });
export {};
