/**
 * A complete service worker: pages reach the cluster with `fetch` at URLs of their own origin.
 */
import { HANDLER_OPTIONS } from '../http/handler.js';
import type { FetchTarget } from '../http/target.js';
import { refuseUnknownOptions } from '../util/options.js';
import { createResponder, type ResponderOptions } from './responder.js';
import type { WorkerScope } from './worker-scope.js';

/** The options of {@link fire}. */
export interface FireOptions extends Omit<ResponderOptions, 'origin'> {
  /**
   * Take control of open pages, and replace an older worker, as soon as this worker is installed; true by default.
   * False: pages get the worker when they are next loaded.
   */
  readonly claim?: boolean | undefined;
  /** The worker's global scope; the current one by default. */
  readonly worker?: WorkerScope | undefined;
}

const FIRE_OPTIONS = [
  'base',
  'scope',
  'claim',
  'worker',
  ...HANDLER_OPTIONS,
] as const satisfies readonly (keyof FireOptions)[];

/**
 * Serves the API requests of pages from the cluster; all other requests go to the network. Call it during the first
 * execution of the worker's script: browsers accept no listeners later.
 *
 * The cluster exists as long as the worker. Browsers stop a worker some time after the last request, which ends watches
 * and discards objects; see the guide.
 *
 * @example
 * fire(createCluster(), { base: '/cluster/' })
 */
export function fire(target: FetchTarget, options: FireOptions = {}): void {
  refuseUnknownOptions('fire', options, FIRE_OPTIONS);
  const { claim = true, worker = currentScope(), ...responderOptions } = options;
  const respond = createResponder(target, { ...responderOptions, origin: worker.location.origin });
  worker.addEventListener('fetch', (event) => {
    const response = respond(event.request);
    // No waitUntil for the end of a watch: a body that is being read keeps the worker alive, whereas Chromium stops a
    // worker, cluster included, when a promise passed to waitUntil takes five minutes.
    if (response !== undefined) event.respondWith(response);
  });
  if (!claim) return;
  worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
  worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
}

function currentScope(): WorkerScope {
  const scope = globalThis as unknown as Partial<WorkerScope>;
  if (typeof scope.skipWaiting !== 'function' || typeof scope.clients?.claim !== 'function') {
    throw new TypeError('orchplane: fire works only in a service worker; elsewhere, use createResponder');
  }
  return scope as WorkerScope;
}
