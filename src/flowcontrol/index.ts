/**
 * How requests share a server. `createFlowControl` gives out tickets; `types.ts` says what is promised.
 */
export { createFlowControl } from './flow-control.js';
export { FlowRejection } from './rejection.js';
export type {
  Classification,
  FlowControl,
  FlowControlOptions,
  FlowCounts,
  FlowDigest,
  FlowMetrics,
  FlowObserver,
  FlowTicket,
  LevelFigures,
  RejectReason,
} from './types.js';
