/**
 * A fetch over a MessagePort: one side sends requests, the other answers with a handler. Response bodies are transferred
 * streams, so a watch arrives event by event, and cancelling it on one side ends it on the other.
 *
 * This file does not depend on Node: a page and its worker can use it, in browsers with transferable streams.
 */

/** Returns a `fetch` for `httpTransport`. Each request has its own channel for the response. */
export function portFetch(port) {
  return async (request) => {
    const { url, method, headers, signal } = request;
    const body = method === 'GET' || method === 'HEAD' ? undefined : await request.arrayBuffer();
    signal.throwIfAborted();
    const { port1: answer, port2: back } = new MessageChannel();
    let abort;
    try {
      return await new Promise((resolve, reject) => {
        abort = () => {
          answer.postMessage('aborted');
          reject(signal.reason);
        };
        signal.addEventListener('abort', abort);
        answer.onmessage = ({ data: { failure, status, headers, body } }) => {
          if (failure === undefined) resolve(new Response(body, { status, headers }));
          else reject(new TypeError(failure));
        };
        port.postMessage({ url, method, headers: [...headers], body, back }, [back]);
      });
    } finally {
      // From here on, cancelling the body ends the request.
      signal.removeEventListener('abort', abort);
      answer.close();
    }
  };
}

/** The other side: answers the requests from the port with `handler`, a result of `createFetchHandler`. */
export function answerPort(port, handler) {
  port.onmessage = async ({ data: { url, method, headers, body, back } }) => {
    const aborted = new AbortController();
    back.onmessage = () => aborted.abort();
    try {
      const response = await handler(new Request(url, { method, headers, body, signal: aborted.signal }));
      const message = { status: response.status, headers: [...response.headers], body: response.body };
      back.postMessage(message, response.body === null ? [] : [response.body]);
    } catch (error) {
      back.postMessage({ failure: String(error) });
    }
  };
}
