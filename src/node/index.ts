/**
 * The entry point `orchplane/node`, the only one that needs Node: serves a cluster on a socket or to in-process
 * clients, reads manifests from files and keeps a journal on disk.
 */

export type { RequestHeaderOptions } from '../auth/request-header.js';
export type { AppliedManifest, ManifestTarget } from '../manifests/apply.js';
export { ManifestError, type ManifestText } from '../manifests/read.js';
export type { ClientCertificate, ClientIdentity } from './certificates.js';
export {
  connectKubeConfig,
  createInProcessAgent,
  type InProcessAgent,
  type InProcessAgentOptions,
  type InProcessConnector,
  type KubeConfigLike,
  type RequestContextLike,
} from './in-process-agent.js';
export { fileJournal } from './journal/open.js';
export type { FileJournalOptions } from './journal/options.js';
export {
  type KubeconfigTransport,
  type KubeconfigTransportOptions,
  kubeconfigTransport,
} from './kubeconfig-transport.js';
export { type LoadOptions, loadManifests, readManifestFiles } from './manifests.js';
export { createNodeListener, type NodeListener, type NodeListenerOptions } from './node-listener.js';
export { nodeSockets } from './pod-sockets.js';
export { bridgeSockets } from './process-images/bridge.js';
export {
  type ProcessImageDefinition,
  type ProcessImagesOptions,
  processImages,
} from './process-images/process-images.js';
export { type ServedCluster, type ServeOptions, serve, type TlsFiles } from './serve.js';
