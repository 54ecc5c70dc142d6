/**
 * A whole service worker: the pages it controls find the cluster behind `fetch`, at addresses of their own origin.
 */
import { HANDLER_OPTIONS } from '../http/handler.js';
import type { FetchTarget } from '../http/target.js';
import { refuseUnknownOptions } from '../util/options.js';
import { createResponder, type ResponderOptions } from './responder.js';

export interface FireOptions extends Omit<ResponderOptions, 'origin'> {
  /**
   * Take the place of an older worker, and of none at all in pages that are open already, as soon as this one is there.
   * Absent: yes. False: the browser's own rule, by which pages get the worker when they are next loaded.
   */
  readonly claim?: boolean | undefined;
  /** The worker's global scope, unless it is the one this runs in. */
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
 * Answers the pages' requests to the API from the cluster; everything else goes to the network. To be called while the
 * worker's script runs for the first time: browsers take no listeners later.
 *
 * The cluster lives as long as the worker does. Browsers end a worker some time after the last request, and with it end
 * the watches and the objects; see the guide for what that means.
 *
 * @example
 * fire(createCluster(), { base: '/cluster/' })
 */
export function fire(target: FetchTarget, options: FireOptions = {}): void {
  refuseUnknownOptions('fire', options, FIRE_OPTIONS);
  const { claim = true, worker = ownScope(), ...responderOptions } = options;
  const respond = createResponder(target, { ...responderOptions, origin: worker.location.origin });
  worker.addEventListener('fetch', (event) => {
    const response = respond(event.request);
    // No waitUntil for the end of a watch: a body that is being read keeps the worker as it is, while Chromium ends a
    // worker, cluster included, when what it was asked to wait for takes five minutes.
    if (response !== undefined) event.respondWith(response);
  });
  if (!claim) return;
  worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
  worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
}

function ownScope(): WorkerScope {
  const scope = globalThis as unknown as Partial<WorkerScope>;
  if (typeof scope.skipWaiting !== 'function' || typeof scope.clients?.claim !== 'function') {
    throw new TypeError('orchplane: fire works in a service worker; elsewhere, createResponder gives the answers');
  }
  return scope as WorkerScope;
}

/** `install` and `activate`. */
export interface WorkerEvent {
  /** Keeps the worker, and the state it is in, until the promise is settled. */
  waitUntil(promise: Promise<unknown>): void;
}

export interface WorkerFetchEvent extends WorkerEvent {
  readonly request: Request;
  /** To be called before the listener returns. Not called: the browser asks the network. */
  respondWith(response: Promise<Response>): void;
}

export interface WorkerScope {
  readonly location: { readonly origin: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: WorkerFetchEvent) => void): void;
}
