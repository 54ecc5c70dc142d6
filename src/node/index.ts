/**
 * A cluster on a socket, or for clients that expect one, and manifests from files: the entry `orchplane/node`, and the
 * only one that needs Node.
 */
export {
  createInProcessAgent,
  type InProcessAgent,
  type InProcessAgentOptions,
} from './in-process-agent.js';
export { type AgentTaker, connectKubeConfig, type KubeConfigLike } from './kube-config.js';
export {
  type KubeconfigTransport,
  type KubeconfigTransportOptions,
  kubeconfigTransport,
} from './kubeconfig-transport.js';
export { type LoadedObject, type LoadOptions, loadManifests, type ManifestTarget } from './load-manifests.js';
export { readManifestFiles } from './manifest-files.js';
export type { ManifestText } from './manifests.js';
export { createNodeListener, type NodeListener, type NodeListenerOptions } from './node-listener.js';
export { type ServedCluster, type ServeOptions, serve, type TlsFiles } from './serve.js';
