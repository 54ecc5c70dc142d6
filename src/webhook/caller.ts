/**
 * How webhooks are reached, for conversion and for admission: by whatever `createCluster({ webhooks })` says, else by
 * `fetch`. Whoever is called, nobody waits for longer than was said, and what goes wrong is told in the words of the
 * reference server.
 */

import type { WebhookAddress, WebhookCaller, WebhookFunction, WebhookResolver, Webhooks } from '../kinds/attendant.js';
import type { ApiObject } from '../meta/object.js';
import { quote } from '../text/go/go-text.js';
import { pemBlocks } from '../text/x509/pem.js';
import type { Clock } from '../util/clock.js';
import { cloneJson, copyJson, isRecord } from '../util/json.js';
import { fetchWebhooks, postUrl } from './fetch.js';

export interface WebhookSetting {
  readonly clock: Clock;
  /** A Service of the cluster: a webhook behind one that is not there cannot be reached. */
  service(namespace: string, name: string): ApiObject | undefined;
}

/**
 * Calls webhooks as a cluster's options say. Rejects with what is to be told. A caller of the user's own keeps the time
 * itself; functions are given up on when it is over.
 */
export function webhookCaller(webhooks: Webhooks | undefined, setting: WebhookSetting): WebhookCaller {
  if (typeof webhooks !== 'function') return resolving(webhooks, setting);
  return async (address, review, timeoutSeconds) => webhooks(address, copyJson(review), timeoutSeconds);
}

function resolving(resolver: WebhookResolver | undefined, setting: WebhookSetting): WebhookCaller {
  const { clock } = setting;
  const send = resolver?.fetch;
  return async (address, review, timeoutSeconds) => {
    const found = resolver?.resolve(address);
    if (typeof found === 'function') {
      const url = postUrl(address, timeoutSeconds);
      // A copy: a function may do with it what it likes.
      const call = () => callFunction(found, copyJson(review), url);
      return inTime(call, { clock, address, timeoutSeconds });
    }
    if (found === undefined) {
      checkBundle(address);
      requireService(address, setting, timeoutSeconds);
    }
    return fetchWebhooks(clock, { fetch: send, sendTo: found })(address, review, timeoutSeconds);
  };
}

/** What a function throws stands where the failure of a connection would. */
async function callFunction(call: WebhookFunction, review: Record<string, unknown>, url: string): Promise<unknown> {
  let answer: unknown;
  try {
    answer = cloneJson(await call(review));
  } catch (error) {
    throw new Error(`Post ${quote(url)}: ${messageOf(error)}`, { cause: error });
  }
  if (answer === undefined)
    throw new Error('0-length response with status code: 200 and content type: application/json');
  return answer;
}

/** Certificates that cannot be read; nobody is called then. */
export class UnreadableBundle extends Error {
  override readonly name = 'UnreadableBundle';
}

function checkBundle({ caBundle = '' }: WebhookAddress): void {
  if (caBundle !== '' && pemBlocks(atob(caBundle)).length === 0)
    throw new UnreadableBundle('unable to load root certificates: unable to parse bytes as PEM block');
}

/** A service without an address of its own, or without that port, is no way to a webhook. */
function requireService(
  { service: wanted }: WebhookAddress,
  { service }: WebhookSetting,
  timeoutSeconds: number,
): void {
  if (wanted === undefined) return;
  const { namespace, name, port = 443 } = wanted;
  const fail = (why: string) => new Error(`Post ${quote(postUrl({ service: wanted }, timeoutSeconds))}: ${why}`);
  const found = service(namespace, name);
  if (found === undefined) throw fail(`service ${quote(name)} not found`);
  const spec = isRecord(found['spec']) ? found['spec'] : {};
  if (spec['type'] === 'ExternalName') return;
  if (spec['clusterIP'] === 'None') throw fail('cannot route to service with ClusterIP "None"');
  const ports: readonly unknown[] = Array.isArray(spec['ports']) ? spec['ports'] : [];
  if (ports.some((item) => isRecord(item) && item['port'] === port)) return;
  throw fail(`no service port ${port} found for service ${quote(name)}`);
}

/** Settles with what `run` does, at the latest when the time is over; what comes after that counts for nothing. */
export function inTime(
  run: () => Promise<unknown>,
  limit: { readonly clock: Clock; readonly address: WebhookAddress; readonly timeoutSeconds: number },
): Promise<unknown> {
  const { clock, address, timeoutSeconds } = limit;
  return new Promise((resolve, reject) => {
    const give = (): void => {
      reject(new Error(`Post ${quote(postUrl(address, timeoutSeconds))}: context deadline exceeded`));
    };
    const undo = clock.after(timeoutSeconds * 1000, give);
    run().then(resolve, reject).finally(undo);
  });
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : `it threw ${error === undefined ? 'nothing' : `a ${typeof error}`}`;
}
