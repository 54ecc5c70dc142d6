/**
 * Waits until one object is as a predicate wants it. The present is looked at first, so a wait that begins too late
 * still ends; then every change is, so none is missed between the look and the watch.
 */
import { errors } from '../meta/errors.js';
import { onAbort } from '../util/abort.js';
import { printJson } from '../util/json.js';
import type { Endpoint } from './endpoint.js';
import { metaOf } from './object-cache.js';
import type { WaitForOptions } from './options.js';
import type { Observer } from './reflector.js';
import { reflect } from './reflector.js';
import { fieldSelectorText } from './selectors.js';

/** Undefined stands for an object that does not exist. */
export type Predicate<Object> = (object: Object | undefined) => boolean;

export interface Wait<Object> {
  readonly name: string;
  readonly predicate: Predicate<Object>;
  readonly options: WaitForOptions;
}

/**
 * Resolves with the first state that the predicate accepts. Rejects with StatusError Timeout when the time is over,
 * with the signal's reason on abort, with what the predicate throws, and with any failure of the server except Expired,
 * after which it looks again.
 */
export function waitFor<Object>(endpoint: Endpoint, wait: Wait<Object>): Promise<Object | undefined> {
  const { predicate, options } = wait;
  const { clock } = endpoint.connection.transport;
  const { signal, timeoutMs } = options;
  if (timeoutMs !== undefined && !(timeoutMs >= 0)) {
    const why = new TypeError(`orchplane: waitFor: timeoutMs is a number of milliseconds, not ${timeoutMs}`);
    return Promise.reject(why);
  }
  return new Promise((resolve, reject) => {
    const stop = new AbortController();
    let seen: Object | undefined;
    const check = (object: Object | undefined) => {
      seen = object;
      try {
        if (predicate(object)) finish(() => resolve(object));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const finish = (settle: () => void) => {
      stop.abort();
      settle();
    };

    if (timeoutMs !== undefined) {
      const timeout = () =>
        reject(errors.timeout(`${describe(endpoint, wait)} within ${timeoutMs} ms; ${lastSeen(seen, predicate)}`));
      const stopTimer = clock.after(timeoutMs, () => finish(timeout));
      onAbort(stop.signal, stopTimer);
    }
    onAbort(
      stop.signal,
      onAbort(signal, () => finish(() => reject(signal?.reason))),
    );
    const observer: Observer<Object> = {
      listed: ([object]) => check(object),
      changed: ({ type, object }) => check(type === 'DELETED' ? undefined : object),
      failed: (error) => finish(() => reject(error)),
    };
    const query = { fieldSelector: fieldSelectorText({ 'metadata.name': wait.name }) };
    void reflect({ endpoint, options: query, signal: stop.signal }, observer);
  });
}

function describe({ kind, place }: Endpoint, { name, predicate }: Wait<never>): string {
  const where = place.namespace === undefined ? '' : ` in namespace "${place.namespace}"`;
  const wanted = isTold(predicate) ? `the condition "${predicate.description}"` : 'the condition';
  return `${kind.kind} "${name}"${where} did not meet ${wanted}`;
}

/** How much of a status an error shows. */
const MOST_OF_STATUS = 400;

function lastSeen(object: unknown, predicate: unknown): string {
  if (object === undefined) return 'it does not exist';
  const missing = isTold(predicate) ? predicate.missing(object) : undefined;
  const why = missing === undefined ? '' : `: ${missing}`;
  return `last seen at resourceVersion ${metaOf(object).resourceVersion}${why}${statusOf(object)}`;
}

function statusOf(object: unknown): string {
  const { status } = object as { readonly status?: unknown };
  if (status === undefined) return '';
  const text = printJson(status);
  return `; its status: ${text.length > MOST_OF_STATUS ? `${text.slice(0, MOST_OF_STATUS)} ...` : text}`;
}

/** What a condition can tell besides yes and no. */
export interface Told {
  /** What is wanted, behind "until": `condition Ready is "True"`. */
  readonly description: string;
  /** What is missing; undefined when nothing is. Undefined as the object stands for one that does not exist. */
  readonly missing: (object: unknown) => string | undefined;
}

/** Whether a predicate can say what it wants. */
export function isTold(predicate: unknown): predicate is Told {
  return typeof predicate === 'function' && 'missing' in predicate && 'description' in predicate;
}
