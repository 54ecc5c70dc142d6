/**
 * One HTTP exchange between functions of this process: bodies are streams, and both sides can abort.
 */
import { onAbort, untilAborted } from '../../util/abort.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { NetworkError } from './types.js';

export interface ExchangeLink {
  /** Aborts when the server stops listening. */
  readonly closed: AbortSignal;
  /** Receives errors of the server. */
  report(error: unknown): void;
}

/**
 * Sends a request to a function. The function sees an aborted signal when the client aborts or cancels the body of the
 * response. An error becomes a response with status 500. Rejects with the reason of the request's signal, and with
 * NetworkError when the server stops listening.
 */
export async function exchange(
  answer: (request: Request) => MaybePromise<Response>,
  request: Request,
  link: ExchangeLink,
): Promise<Response> {
  request.signal.throwIfAborted();
  const client = new AbortController();
  const undos = [request.signal, link.closed].map((signal) => onAbort(signal, () => client.abort(signal.reason)));
  const onEnd = (): void => {
    for (const undo of undos) undo();
  };
  const answered = answerOf(answer, serverRequest(request, client.signal), { ...link, client: client.signal });
  try {
    const response = await untilAborted(answered, client.signal);
    const { status, statusText, headers } = response;
    if (response.body === null || request.method === 'HEAD') {
      onEnd();
      void response.body?.cancel().catch(link.report);
      return new Response(null, { status, statusText, headers });
    }
    const body = relay(response.body, {
      signal: client.signal,
      onCancel: () => client.abort(disconnected()),
      onError: (error) => {
        link.report(error);
        return hangUp();
      },
      onEnd,
    });
    return new Response(body, { status, statusText, headers });
  } catch (error) {
    onEnd();
    // What the function returns later is not needed.
    void answered.then(({ body }) => body?.cancel()).catch(link.report);
    throw error;
  }
}

/** The connection was closed without a complete response. */
export function hangUp(): NetworkError {
  return new NetworkError('socket hang up', { code: 'ECONNRESET' });
}

function disconnected(): DOMException {
  return new DOMException('the client has closed the connection', 'AbortError');
}

/** The request as the server receives it. Its body fails when the client aborts. */
function serverRequest(request: Request, signal: AbortSignal): Request {
  const { body } = request;
  // Without the property, the platform has no streams in requests.
  if (!body || !('duplex' in request)) return new Request(request, { signal });
  const init: RequestInit & { duplex: 'half' } = { body: relay(body, { signal }), duplex: 'half', signal };
  return new Request(request, init);
}

async function answerOf(
  answer: (request: Request) => MaybePromise<Response>,
  request: Request,
  { client, report }: ExchangeLink & { readonly client: AbortSignal },
): Promise<Response> {
  try {
    const response = await answer(request);
    if (!(response instanceof Response)) throw new TypeError('the server returned no Response');
    if (response.status < 200) throw new TypeError(`the server returned the status ${response.status}`);
    if (response.bodyUsed) throw new TypeError('the server returned a Response whose body was read');
    return response;
  } catch (error) {
    // A server that stops because its client has gone has not failed.
    if (!client.aborted) report(error);
    return new Response('Internal Server Error\n', { status: 500, headers: { 'content-type': 'text/plain' } });
  }
}

interface RelayOptions {
  readonly signal: AbortSignal;
  /** The reader has cancelled. */
  readonly onCancel?: () => void;
  /** The source has failed. Returns the error for the reader; absent: the same error. */
  readonly onError?: (error: unknown) => unknown;
  readonly onEnd?: () => void;
}

/** Passes a stream on, with few chunks in advance. When the signal aborts, the reader gets its reason and the source is cancelled. */
function relay(source: ReadableStream<Uint8Array>, options: RelayOptions): ReadableStream<Uint8Array> {
  const { signal, onCancel, onError, onEnd } = options;
  const reader = source.getReader();
  let undo: (() => void) | undefined;
  const end = (): void => {
    undo?.();
    onEnd?.();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        undo = onAbort(signal, () => {
          controller.error(signal.reason);
          // The reader has the reason already; the source has no one else to tell.
          reader.cancel(signal.reason).catch((error: unknown) => onError?.(error));
          onEnd?.();
        });
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (signal.aborted) return;
          if (done) {
            end();
            controller.close();
          } else {
            controller.enqueue(value);
          }
        } catch (error) {
          if (signal.aborted) return;
          end();
          controller.error(onError === undefined ? error : onError(error));
        }
      },
      async cancel(reason) {
        end();
        onCancel?.();
        await reader.cancel(reason);
      },
    },
    // A body of one chunk ends without being read.
    { highWaterMark: 2 },
  );
}
