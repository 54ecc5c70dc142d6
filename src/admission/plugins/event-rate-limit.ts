/**
 * How many events may be written in a while, in all, in a namespace, by a user, or about one thing from one source.
 */
import type { CoreEvent } from '../../kinds/core/v1/event.js';
import { failure } from '../../meta/errors.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';

export const LIMIT_TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;

export interface EventLimit {
  readonly type: (typeof LIMIT_TYPES)[number];
  /** How many a second, on the whole. */
  readonly qps: number;
  /** How many at once. */
  readonly burst: number;
  /** How many namespaces, users or things are remembered; one that was forgotten begins anew. 4096 if absent. */
  readonly cacheSize?: number;
}

export interface EventRateLimitOptions {
  /** An event must keep to all of them. */
  readonly limits: readonly EventLimit[];
}

/**
 * The plugin. Each cluster that it is given to counts for itself.
 *
 * @example
 * eventRateLimit({ limits: [{ type: 'Namespace', qps: 50, burst: 100 }] })
 */
export function eventRateLimit(options: EventRateLimitOptions): AdmissionPlugin {
  checkOptions(options);
  const { limits } = options;
  const byCluster = new WeakMap<ClusterView, readonly Enforcer[]>();
  return Object.freeze({
    name: 'EventRateLimit',
    // Only events of the first group: the reference server does not limit the others.
    handlesKind: ({ kind }) => kind.group === '' && kind.names.plural === 'events',
    isBuiltIn: true,
    validate(request, view) {
      const { operation, dryRun } = request;
      if (dryRun || (operation !== 'CREATE' && operation !== 'UPDATE')) return;
      let enforcers = byCluster.get(view);
      if (enforcers === undefined) {
        enforcers = limits.map((limit) => new Enforcer(limit));
        byCluster.set(view, enforcers);
      }
      // Each is asked, so that each counts.
      const texts = new Set(enforcers.flatMap((enforcer) => enforcer.refusal(request, view.clock.now()) ?? []));
      if (texts.size === 0) return;
      const why = texts.size === 1 ? [...texts].join() : `[${[...texts].join(', ')}]`;
      throw failure({ reason: 'TooManyRequests', message: `Too many requests: ${why}` });
    },
  } satisfies AdmissionPlugin);
}

function checkOptions(options: EventRateLimitOptions): void {
  refuseUnknownOptions('eventRateLimit', options, ['limits']);
  const { limits } = options;
  if (!Array.isArray(limits) || limits.length === 0) throw new TypeError('orchplane: eventRateLimit needs limits');
  for (const limit of limits) {
    refuseUnknownOptions('eventRateLimit, limits', limit, ['type', 'qps', 'burst', 'cacheSize']);
    const { type, qps, burst, cacheSize = 0 } = limit;
    const wrong = !LIMIT_TYPES.includes(type)
      ? `type is ${JSON.stringify(type)}; there are ${LIMIT_TYPES.join(', ')}`
      : !(qps > 0)
        ? 'qps must be positive'
        : !(burst > 0)
          ? 'burst must be positive'
          : !(cacheSize >= 0)
            ? 'cacheSize must not be negative'
            : undefined;
    if (wrong !== undefined) throw new TypeError(`orchplane: eventRateLimit: ${wrong}`);
  }
}

const CACHE_SIZE = 4096;

const KEYS: Readonly<Record<EventLimit['type'], (request: AdmissionRequest) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.user,
  SourceAndObject({ object }) {
    const { source, involvedObject } = object as unknown as CoreEvent;
    const { kind, namespace, name, uid, apiVersion } = involvedObject;
    return [source?.component, source?.host, kind, namespace, name, uid, apiVersion].map((part) => part ?? '').join('');
  },
};

/** A bucket that holds `burst` events and is refilled by `qps` a second. */
interface Bucket {
  left: number;
  at: number;
}

class Enforcer {
  readonly #limit: EventLimit;
  /** The one that was used last comes last. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: EventLimit) {
    this.#limit = limit;
  }

  /** Takes one event out of the bucket, if there is one. */
  refusal(request: AdmissionRequest, now: number): string | undefined {
    const { type, qps, burst } = this.#limit;
    const key = KEYS[type](request);
    const bucket = this.#bucket(key, now);
    bucket.left = Math.min(burst, bucket.left + (Math.max(0, now - bucket.at) / 1000) * qps);
    bucket.at = now;
    if (bucket.left < 1) return `limit reached on type ${type} for key ${key}`;
    bucket.left -= 1;
    return undefined;
  }

  #bucket(key: string, now: number): Bucket {
    const bucket = this.#buckets.get(key) ?? { left: this.#limit.burst, at: now };
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined && this.#buckets.size > (this.#limit.cacheSize || CACHE_SIZE))
      this.#buckets.delete(oldest);
    return bucket;
  }
}
