/**
 * The entry point `orchplane/service-worker`: serves a cluster to the pages of a browser through a service worker.
 */
export type { FireOptions } from './fire.js';
export { fire } from './fire.js';
export type { Responder, ResponderOptions } from './responder.js';
export { createResponder } from './responder.js';
export type { WorkerEvent, WorkerFetchEvent, WorkerScope } from './worker-scope.js';
