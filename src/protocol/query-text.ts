/**
 * The query of a request as a client writes it: for those who send it, and for those who write down what was asked.
 */
import type { ApiRequest, RequestOptions } from './request.js';

/** Options that go into the query as they are; those of a delete go into its body. */
const PARAMETERS = [
  'fieldManager',
  'fieldValidation',
  'force',
  'labelSelector',
  'fieldSelector',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'allowWatchBookmarks',
  'timeoutSeconds',
] as const satisfies readonly (keyof RequestOptions)[];

/** With the question mark in front; empty when there is nothing to say. */
export function queryText({ verb, options }: ApiRequest): string {
  const pairs: string[] = verb === 'watch' ? ['watch=true'] : [];
  for (const name of PARAMETERS) {
    const value = options[name];
    if (value !== undefined) pairs.push(`${name}=${percentEncode(String(value))}`);
  }
  if (verb !== 'delete' && verb !== 'deletecollection') {
    for (const value of options.dryRun ?? []) pairs.push(`dryRun=${percentEncode(value)}`);
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** The plus sign too, which stands for a space in a query. Half a surrogate pair has no encoding. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}
