/**
 * Requests a token of a service account that is bound to an object.
 */
import type { Client } from '../../client/client.js';
import { ServiceAccount } from '../../kinds/core/v1/service-account.js';
import { invariant } from '../../util/invariant.js';

export interface BoundTokenRequest {
  readonly namespace: string | undefined;
  readonly account: string;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** The token is invalid when this object is deleted. */
  readonly boundTo: { readonly kind: 'Pod' | 'Secret'; readonly name: string; readonly uid: string };
}

export async function requestBoundToken(client: Client, request: BoundTokenRequest): Promise<string> {
  const { namespace, account, audiences, expirationSeconds, boundTo } = request;
  const response = await client
    .api(ServiceAccount, namespace)
    .subresource('token')
    .create(account, {
      spec: { audiences: [...audiences], expirationSeconds, boundObjectRef: { apiVersion: 'v1', ...boundTo } },
    });
  invariant('spec' in response, 'a request for a token is answered with one');
  return response.status.token;
}
