/**
 * A cluster behind the `fetch` of a page: the entry `orchplane/service-worker`.
 */
export type { FireOptions } from './fire.js';
export { fire } from './fire.js';
export type { Responder, ResponderOptions } from './responder.js';
export { createResponder } from './responder.js';
export type { WorkerEvent, WorkerFetchEvent, WorkerScope } from './worker-scope.js';
