/**
 * The part of a service worker's global scope that is used. The compiler's own types are in a library that conflicts with
 * that of pages, so they are described by shape. This file imports nothing, so that it compiles with either library.
 */

/** The event type of `install` and `activate`. */
export interface WorkerEvent {
  /** Keeps the worker alive, and in its current state, until the promise settles. */
  waitUntil(promise: Promise<unknown>): void;
}

/** The event type of `fetch`. */
export interface WorkerFetchEvent extends WorkerEvent {
  readonly request: Request;
  /** Must be called before the listener returns. Otherwise the browser uses the network. */
  respondWith(response: Promise<Response>): void;
}

/** The part of ServiceWorkerGlobalScope that is used; its own types conflict with those of pages. */
export interface WorkerScope {
  readonly location: { readonly origin: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: WorkerFetchEvent) => void): void;
}
