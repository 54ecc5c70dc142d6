/** Requests other than watches. */
import type { ApiObject } from '../meta/object.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ObjectResponse } from '../protocol/response.js';
import type { Transport } from '../protocol/transport.js';
import { invariant } from '../util/invariant.js';

/** Sends a request that is answered with an object, a list or a Status. Rejects with StatusError. */
export async function sendForResponse(
  transport: Pick<Transport, 'send'>,
  request: ApiRequest,
): Promise<ObjectResponse> {
  const response = await transport.send(request);
  invariant(response.type === 'object', `the response to a ${request.verb} is a ${response.type}, not an object`);
  return response;
}

/** The object, the list or the Status of the response. */
export async function sendForObject<Answer = ApiObject>(
  transport: Pick<Transport, 'send'>,
  request: ApiRequest,
): Promise<Answer> {
  return (await sendForResponse(transport, request)).object as Answer;
}
