/**
 * As much of a service worker's global scope as is used here. The platform's own types are in a library of the compiler
 * that cannot be used together with that of pages, so they are described by what they do; a ServiceWorkerGlobalScope fits.
 */

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
