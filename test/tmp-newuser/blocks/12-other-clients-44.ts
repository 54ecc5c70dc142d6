import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { connectKubeConfig, createInProcessAgent } from 'orchplane/node';
import { testCluster } from 'orchplane/testing';

const cluster = testCluster({ dialect: 'kubernetes' });
const agent = createInProcessAgent(cluster);
const config = connectKubeConfig(new KubeConfig(), agent);

const core = config.makeApiClient(CoreV1Api);
const list = () => core.listNamespacedConfigMap({ namespace: 'default' });
const informer = makeInformer(config, '/api/v1/namespaces/default/configmaps', list);
informer.on('add', ({ metadata }) => console.log(metadata?.name));
await informer.start();
await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'web' } } }); // prints: web

await cluster.clock.advance(60 * 60_000); // the server ends the watch; the informer goes on
agent.destroy(); // the network fails: the informer reports an error
await informer.stop();
export {};
