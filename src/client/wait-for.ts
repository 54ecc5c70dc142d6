/**
 * Waits until one object satisfies a predicate. It checks the current state first and then every change, so no state is
 * missed in between.
 */
import { errors } from '../meta/errors.js';
import { onAbort } from '../util/abort.js';
import { printJson } from '../util/json.js';
import type { Endpoint } from './endpoint.js';
import { metaOf } from './object-cache.js';
import { type WaitForOptions, waitForOptions } from './options.js';
import { type Observer, reflect } from './reflector.js';
import { fieldSelectorText } from './selectors.js';

/** Called with undefined when the object does not exist. */
export type Predicate<Object> = (object: Object | undefined) => boolean;

/** A condition that describes itself in error messages. */
export interface DescribedCondition {
  /** What the condition requires: `condition Ready is "True"`. */
  readonly description: string;
  /** What is missing; undefined when the condition is met. `object` is undefined when it does not exist. */
  readonly missing: (object: unknown) => string | undefined;
}

/** Whether a predicate describes itself. */
export function isDescribed(predicate: unknown): predicate is DescribedCondition {
  return typeof predicate === 'function' && 'missing' in predicate && 'description' in predicate;
}

/** The object and the predicate to wait for. */
export interface WaitRequest<Object> {
  readonly name: string;
  readonly predicate: Predicate<Object>;
  readonly options: WaitForOptions;
}

/**
 * Resolves with the first state that satisfies the predicate. Rejects with StatusError Timeout on timeout, with the
 * signal's reason on abort, with what the predicate throws, and with any failure of the server except Expired, after
 * which it lists again.
 */
export async function waitFor<Object>(endpoint: Endpoint, wait: WaitRequest<Object>): Promise<Object | undefined> {
  const { predicate, options } = wait;
  const { clock } = endpoint.config.transport;
  const { signal, timeoutMs } = waitForOptions(options);
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
        reject(
          errors.timeout(`${describe(endpoint, wait)} within ${timeoutMs} ms; ${describeLastSeen(seen, predicate)}`),
        );
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

function describe({ kind, scope: place }: Endpoint, { name, predicate }: WaitRequest<never>): string {
  const where = place.namespace === undefined ? '' : ` in namespace "${place.namespace}"`;
  const required = isDescribed(predicate) ? `the condition "${predicate.description}"` : 'the condition';
  return `${kind.kind} "${name}"${where} did not meet ${required}`;
}

/** The maximum length of a status in an error message. */
const MAX_STATUS_LENGTH = 400;

function describeLastSeen(object: unknown, predicate: unknown): string {
  if (object === undefined) return 'it does not exist';
  const missing = isDescribed(predicate) ? predicate.missing(object) : undefined;
  const why = missing === undefined ? '' : `: ${missing}`;
  return `last seen at resourceVersion ${metaOf(object).resourceVersion}${why}${statusText(object)}`;
}

function statusText(object: unknown): string {
  const { status } = object as { readonly status?: unknown };
  if (status === undefined) return '';
  const text = printJson(status);
  return `; its status: ${text.length > MAX_STATUS_LENGTH ? `${text.slice(0, MAX_STATUS_LENGTH)} ...` : text}`;
}
