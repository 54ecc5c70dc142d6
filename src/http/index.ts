/**
 * A cluster over HTTP: the entry `orchplane/http`.
 */
export type { Tokens } from './bearer.js';
export type { FetchHandler, FetchHandlerOptions, FetchTarget } from './handler.js';
export { createFetchHandler } from './handler.js';
export type { ServedResource } from './routes.js';
