/**
 * Audit events as the reference server writes them, and the line that one is in a log. spec: Events
 */
import { escapeForPages, printJson } from '../util/json.js';

/** How much is written down, from nothing to everything. */
export const AUDIT_LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];

/** The moments of a request at which an event may be written. */
export const AUDIT_STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof AUDIT_STAGES)[number];

export interface AuditUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a request was about. Parts that are empty are absent. */
export interface AuditObjectReference {
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiGroup?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly subresource?: string;
}

/** A Status without its kind; of an answer that is no Status it has the code alone. */
export interface AuditStatus {
  readonly metadata: object;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: object;
  readonly code?: number;
}

/** Frozen, and the same for every reader. Keys stand in wire order. */
export interface AuditEvent {
  readonly kind: 'Event';
  readonly apiVersion: string;
  readonly level: AuditLevel;
  readonly auditID: string;
  readonly stage: AuditStage;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: AuditUser;
  readonly impersonatedUser?: AuditUser;
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
  /** Absent for pages of the server's own. */
  readonly objectRef?: AuditObjectReference;
  /** Absent as long as there is no answer. */
  readonly responseStatus?: AuditStatus;
  /** From the level Request on. */
  readonly requestObject?: unknown;
  /** At the level RequestResponse. */
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * An event as one line of a log, with the break at its end. Not JSON.stringify: integers may be larger than that can
 * print.
 */
export function auditLine(event: AuditEvent): string {
  return `${escapeForPages(printJson(event))}\n`;
}
