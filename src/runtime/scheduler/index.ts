/**
 * A scheduler for pods: filters and scores nodes as kube-scheduler does with its default configuration.
 */
export { type SchedulerOptions, scheduler } from './scheduler.js';
