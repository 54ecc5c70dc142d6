/**
 * Webhooks by `fetch`. What goes wrong is told in the words of the reference server as far as the platform says what it
 * was.
 */
import type { WebhookAddress } from '../kinds/attendant.js';
import { isRecord } from '../util/json.js';

/** Answers of webhooks that are longer are not read to their end. */
const MAX_ANSWER = 3 * 1024 * 1024;

/** Sends a review to the address in a configuration. Services are reached by the name they have in a cluster's DNS. */
export async function fetchWebhook(
  address: WebhookAddress,
  review: Readonly<Record<string, unknown>>,
  timeoutSeconds: number,
): Promise<unknown> {
  const url = `${urlOf(address)}?timeout=${timeoutSeconds}s`;
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, */*' },
    body: JSON.stringify(review),
    signal: AbortSignal.timeout(timeoutSeconds * 1000),
  };
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, request);
    text = await response.text();
  } catch (error) {
    throw new Error(`Post ${JSON.stringify(url)}: ${networkProblem(error, url)}`, { cause: error });
  }
  if (!response.ok) throw new Error(statusProblem(response.status, text));
  if (text.length > MAX_ANSWER) throw new Error('the answer of the webhook is too long');
  return JSON.parse(text) as unknown;
}

function urlOf({ url, service }: WebhookAddress): string {
  if (url !== undefined) return url;
  if (service === undefined) throw new Error('a webhook needs a url or a service');
  const { namespace, name, path = '', port = 443 } = service;
  return `https://${name}.${namespace}.svc:${port}${path.startsWith('/') ? path : `/${path}`}`;
}

/** The platform's reason, in the words of the reference's network library where they are known. */
function networkProblem(error: unknown, url: string): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'context deadline exceeded';
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (isRecord(cause)) {
    const { code, address, port, hostname } = cause;
    if (code === 'ECONNREFUSED' && address !== undefined)
      return `dial tcp ${address}:${port}: connect: connection refused`;
    if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  }
  // Some ports the platform does not even try; nobody listens there.
  if (cause instanceof Error && cause.message === 'bad port') {
    const { hostname, port } = new URL(url);
    return `dial tcp ${hostname}:${port}: connect: connection refused`;
  }
  const reason = cause instanceof Error ? cause.message : undefined;
  return reason ?? (error instanceof Error ? error.message : String(error));
}

function statusProblem(status: number, text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (isRecord(body) && typeof body['message'] === 'string') return body['message'];
  } catch {
    // No Status: the code says it all.
  }
  return `the server responded with the status code ${status} but did not return more information`;
}
