/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The audit log of a cluster: `createCluster({ audit: auditLog({ policy }) })`. It keeps the newest events and hands
 * them to whoever reads; nothing of it ever holds up a request.
 */
import { refuseUnknownOptions } from '../util/options.js';
import { AUDIT_LEVELS, type AuditEvent, type AuditLevel } from './event.js';
import { Feed, type FeedReader, type ReadOptions } from './feed.js';
import { type AuditPolicy, evaluatorOf } from './policy.js';
import { type AuditedRequest, type AuditRecord, type AuditSetting, RequestRecord } from './record.js';

export interface AuditLogOptions {
  readonly policy: AuditPolicy;
  /** How many events are kept for `events` and for readers that are behind; 1000 unless said otherwise. */
  readonly limit?: number | undefined;
  /** Told when a reader was too slow: how many events it has lost since the last time. */
  readonly onLost?: ((count: number) => void) | undefined;
}

/** What a metrics page shows of a log. */
export interface AuditCounts {
  readonly events: number;
  /** Requests by what the policy wanted of them. */
  readonly levels: Readonly<Record<AuditLevel, number>>;
}

export interface AuditLog extends AsyncIterable<AuditEvent>, AsyncDisposable {
  /** The newest events, oldest first. */
  readonly events: readonly AuditEvent[];
  readonly counts: AuditCounts;
  /** Begins with the next event; every reader gets all from then on. */
  read(options?: ReadOptions): FeedReader<AuditEvent>;
  [Symbol.asyncIterator](): FeedReader<AuditEvent>;
  /** Called by a cluster for each request. Undefined when nothing of it is to be written down. */
  begin(request: AuditedRequest, setting: AuditSetting): AuditRecord | undefined;
  /** Readers get what is left and then the end; later requests are not written down. */
  close(): Promise<void>;
}

const DEFAULT_LIMIT = 1000;

/**
 * Makes a log. Throws TypeError for a policy that cannot be followed.
 *
 * @example
 * const audit = auditLog({ policy: { rules: [{ level: 'Metadata', verbs: ['delete'] }] } });
 * const cluster = createCluster({ audit });
 * for await (const event of audit) console.log(event.user.username, event.requestURI);
 */
export function auditLog(options: AuditLogOptions): AuditLog {
  if (typeof options !== 'object' || options === null) throw new TypeError('orchplane: auditLog needs a policy');
  refuseUnknownOptions('auditLog', options, ['policy', 'limit', 'onLost']);
  const { policy, limit = DEFAULT_LIMIT, onLost } = options;
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new TypeError(`orchplane: auditLog: limit is a whole number from 1 on, not ${String(limit)}`);
  }
  const evaluate = evaluatorOf(policy);
  const feed = new Feed<AuditEvent>(limit);
  const levels = Object.fromEntries(AUDIT_LEVELS.map((level) => [level, 0])) as Record<AuditLevel, number>;
  const write = (event: AuditEvent): void => feed.add(event);

  const read = (reading: ReadOptions = {}): FeedReader<AuditEvent> =>
    feed.read(onLost === undefined ? reading : { onLost, ...reading });

  async function close(): Promise<void> {
    feed.close();
  }

  return Object.freeze({
    get events() {
      return feed.items();
    },
    get counts() {
      return { events: feed.end, levels: { ...levels } };
    },
    read,
    [Symbol.asyncIterator]: () => read(),
    begin(request: AuditedRequest, setting: AuditSetting) {
      if (feed.isClosed) return undefined;
      const config = evaluate(request.attributes, request.user);
      levels[config.level]++;
      return config.level === 'None' ? undefined : new RequestRecord(request, config, { setting, write });
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}
