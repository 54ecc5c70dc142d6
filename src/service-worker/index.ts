/**
 * A cluster behind the `fetch` of a page: the entry `orchplane/service-worker`.
 */
export type { FireOptions, WorkerEvent, WorkerFetchEvent, WorkerScope } from './fire.js';
export { fire } from './fire.js';
export type { Responder, ResponderOptions } from './responder.js';
export { createResponder } from './responder.js';
