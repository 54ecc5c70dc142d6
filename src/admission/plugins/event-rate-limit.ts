/**
 * The EventRateLimit plugin: token buckets for events per server, namespace, user, or source and object.
 */
import type { CoreEvent } from '../../kinds/core/v1/event.js';
import { failure } from '../../meta/errors.js';
import { aggregateText } from '../../meta/field-error.js';
import { getOrInsertComputed } from '../../util/once.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { builtIn, kindsOf } from './requests.js';

export const LIMIT_TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;

export interface EventLimit {
  readonly type: (typeof LIMIT_TYPES)[number];
  /** Events per second on average. */
  readonly qps: number;
  /** Maximum burst. */
  readonly burst: number;
  /** Number of buckets kept; an evicted one starts full again. Default: 4096. */
  readonly cacheSize?: number;
}

export interface EventRateLimitOptions {
  /** An event must satisfy all of them. */
  readonly limits: readonly EventLimit[];
}

/**
 * Creates the plugin. Each cluster counts separately.
 *
 * @example
 * eventRateLimit({ limits: [{ type: 'Namespace', qps: 50, burst: 100 }] })
 */
export function eventRateLimit(options: EventRateLimitOptions): AdmissionPlugin {
  checkOptions(options);
  const { limits } = options;
  const byCluster = new WeakMap<ClusterView, readonly Enforcer[]>();
  return builtIn('EventRateLimit', {
    // The reference server limits events of the core group only.
    // upstream: plugin/pkg/admission/eventratelimit/admission.go Plugin.Validate
    handlesKind: kindsOf(['', 'events']),
    validate(request, view) {
      const { operation, dryRun } = request;
      if (dryRun || (operation !== 'CREATE' && operation !== 'UPDATE')) return;
      const enforcers = getOrInsertComputed(byCluster, view, () => limits.map((limit) => new Enforcer(limit)));
      // Every enforcer runs, so that each counts the event.
      const texts = enforcers.flatMap((enforcer) => enforcer.takeToken(request, view.clock.now()) ?? []);
      if (texts.length === 0) return;
      throw failure({ reason: 'TooManyRequests', message: `Too many requests: ${aggregateText(texts)}` });
    },
  });
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

/** A token bucket: holds up to `burst` tokens, refilled with `qps` per second. */
interface Bucket {
  left: number;
  at: number;
}

class Enforcer {
  readonly #limit: EventLimit;
  /** In order of use, the most recent last. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: EventLimit) {
    this.#limit = limit;
  }

  /** Takes a token. Returns the message if there is none. */
  takeToken(request: AdmissionRequest, now: number): string | undefined {
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
