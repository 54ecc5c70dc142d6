/**
 * No room: what the client is told. It is plain text, whatever the client accepts.
 */
import type { RejectReason } from './types.js';

export class FlowRejection extends Error {
  override readonly name = 'FlowRejection';
  readonly code = 429;
  readonly text = 'Too many requests, please try again later.\n';
  readonly reason: RejectReason;
  /** Beside those of every text: when to come back, and what the request was matched with. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: RejectReason, headers: Readonly<Record<string, string>>) {
    super(`too many requests: ${reason}`);
    this.reason = reason;
    this.headers = headers;
  }
}
