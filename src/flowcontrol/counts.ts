/**
 * The counters of one FlowSchema on one priority level; see `FlowCounts` for their meaning.
 */
import type { FlowCounts, RejectReason } from './types.js';

export class Counts implements FlowCounts {
  readonly priorityLevel: string;
  readonly flowSchema: string;
  dispatched = 0;
  readonly rejected: Partial<Record<RejectReason, number>> = {};
  inQueue = 0;
  inQueueSeats = 0;
  executing = 0;
  executingSeats = 0;

  constructor(priorityLevel: string, flowSchema: string) {
    this.priorityLevel = priorityLevel;
    this.flowSchema = flowSchema;
  }

  reject(reason: RejectReason): void {
    this.rejected[reason] = (this.rejected[reason] ?? 0) + 1;
  }

  wait(requests: 1 | -1, seats: number): void {
    this.inQueue += requests;
    this.inQueueSeats += requests * seats;
  }
}
