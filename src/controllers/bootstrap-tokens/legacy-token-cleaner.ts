/**
 * Deletes service account tokens in Secrets that have not been used for a long time. They are labelled as invalid first, and
 * deleted after another period without use.
 */

import { mergePatch } from '../../client/patches.js';
import { ConfigMap } from '../../kinds/core/v1/config-map.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { secretNames } from '../../kinds/core/v1/pod-spec/references.js';
import { Secret } from '../../kinds/core/v1/secret.js';
import { ServiceAccount } from '../../kinds/core/v1/service-account.js';
import { StatusError } from '../../meta/errors.js';
import { formatTime, isDate, timeToMs } from '../../text/time/time.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import type { ReconcileResult } from '../runtime/work-queue.js';
import type { StoredSecret } from './token-secret.js';

export interface LegacyTokenCleanerOptions {
  /** How long a token must be unused, in milliseconds; 365 days unless given. */
  readonly cleanUpPeriodMs?: number | undefined;
}

const DAY_MS = 86_400_000;
const CLEAN_UP_PERIOD_MS = 365 * DAY_MS;

/** The server writes the day since which it records the use of tokens. */
const TRACKING = 'kube-apiserver-legacy-service-account-token-tracking';
const SINCE = 'since';

/**
 * Labels unused tokens in Secrets that a ServiceAccount lists, and deletes them later. Works once a day, and only if the
 * ConfigMap kube-system/kube-apiserver-legacy-service-account-token-tracking says since when the use of tokens is recorded.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([legacyTokenCleaner({ cleanUpPeriodMs: 30 * 86_400_000 })]) });
 */
export function legacyTokenCleaner(options: LegacyTokenCleanerOptions = {}): Controller {
  refuseUnknownOptions('legacyTokenCleaner', options, ['cleanUpPeriodMs']);
  const { cleanUpPeriodMs = CLEAN_UP_PERIOD_MS } = options;
  if (!(cleanUpPeriodMs > 0)) {
    throw new TypeError(`orchplane: legacyTokenCleaner: cleanUpPeriodMs is a positive number, not ${cleanUpPeriodMs}`);
  }
  return {
    name: 'legacy-serviceaccount-token-cleaner-controller',
    account: 'legacy-service-account-token-cleaner',
    needs: [ConfigMap, Pod, Secret, ServiceAccount],
    start: (context) => new LegacyTokenCleaner(context, cleanUpPeriodMs).start(),
  };
}

class LegacyTokenCleaner extends ControllerPart<number> {
  readonly #accounts = this.context.informer(ServiceAccount);
  readonly #pods = this.context.informer(Pod);
  readonly #secrets = this.context.informer(Secret);
  readonly #queue = this.context.queue(() => this.#clean());

  start(): void {
    this.#queue.add('all');
  }

  async #clean(): Promise<ReconcileResult> {
    const nowMs = this.context.clock.now();
    const unused = this.#secrets.list().filter((secret) => this.#isUnused(secret, nowMs - this.options));
    if (unused.length > 0 && (await this.#isTracked(nowMs))) {
      for (const secret of unused) await this.#invalidate(secret, nowMs);
    }
    return { requeueAfterMs: DAY_MS };
  }

  /** Whether the use of tokens has been recorded for the whole period. */
  async #isTracked(nowMs: number): Promise<boolean> {
    const since = (await this.context.client.api(ConfigMap, 'kube-system').find(TRACKING))?.data?.[SINCE] ?? '';
    // Recording began at some time of that day.
    return isDate(since) && nowMs >= timeToMs(`${since}T00:00:00Z`) + DAY_MS + this.options;
  }

  #isUnused(secret: StoredSecret, beforeMs: number): boolean {
    const { dialect } = this.context;
    const { metadata, type } = secret;
    if (type !== dialect.key('service-account-token') || metadata.deletionTimestamp !== undefined) return false;
    if (timeToMs(metadata.creationTimestamp) >= beforeMs) return false;
    const lastUsed = metadata.labels?.[dialect.key('legacy-token-last-used')];
    if (lastUsed !== undefined && (!isDate(lastUsed) || lastUsed >= dayOf(beforeMs))) return false;
    // A token that its account does not list was created by a user.
    const account = this.#accounts.get(
      metadata.annotations?.[dialect.key('service-account.name')] ?? '',
      metadata.namespace,
    );
    const uid = metadata.annotations?.[dialect.key('service-account.uid')] ?? '';
    if (account === undefined || (uid !== '' && uid !== account.metadata.uid)) return false;
    if (!account.secrets?.some(({ name }) => name === metadata.name)) return false;
    return !this.#pods.list(metadata.namespace).some(({ spec }) => secretNames(spec).includes(metadata.name));
  }

  async #invalidate({ metadata }: StoredSecret, nowMs: number): Promise<void> {
    const { client, dialect } = this.context;
    const { name, namespace, uid, resourceVersion } = metadata;
    const api = client.api(Secret, namespace);
    const label = dialect.key('legacy-token-invalid-since');
    const since = metadata.labels?.[label] ?? '';
    try {
      if (!isDate(since)) await api.patch(name, mergePatch({ metadata: { uid, labels: { [label]: dayOf(nowMs) } } }));
      else if (since < dayOf(nowMs - this.options)) await api.delete(name, { preconditions: { resourceVersion } });
    } catch (error) {
      // It was deleted or used meanwhile.
      if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
    }
  }
}

function dayOf(ms: number): string {
  return formatTime(ms).slice(0, 10);
}
