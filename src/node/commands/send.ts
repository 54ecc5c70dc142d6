/** Requests of commands. */
import type { ApiObject } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { Transport } from '../../protocol/transport.js';
import { invariant } from '../../util/invariant.js';

/** Sends a request that is answered with an object, a list or a Status. Rejects with StatusError. */
export async function sendForObject<Answer = ApiObject>(transport: Transport, request: ApiRequest): Promise<Answer> {
  const response = await transport.send(request);
  invariant(response.type === 'object', 'the response to a request other than a watch is a watch');
  return response.object as Answer;
}
