/**
 * Controllers on the cluster's clock: those that make the API's promises come true, and what is needed to write one.
 */
export type { Controller, ControllerContext, QueueOptions } from './runtime/controller.js';
export type { EventRecorder, EventType } from './runtime/events.js';
export { controllerOf, controllerReference, isControlledBy } from './runtime/owners.js';
export { controllers, type RunningControllers, type RunOptions, runControllers } from './runtime/run.js';
export { keyOf, type Lookup, SharedInformer, splitKey } from './runtime/shared-informer.js';
export { type Again, type Backoff, type Reconcile, WorkQueue, type WorkQueueOptions } from './runtime/work-queue.js';
export { type ServiceAccountsOptions, serviceAccounts } from './service-accounts.js';
export { type StandardOptions, standardControllers } from './standard.js';
