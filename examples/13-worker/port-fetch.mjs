/**
 * A fetch over a MessagePort: one side asks, the other answers with a handler. Bodies of answers are streams that move
 * with the message, so a watch arrives event by event, and leaving it on one side ends it on the other.
 *
 * Nothing here is of Node alone: a page and its worker can use this file as it is, in browsers that move streams between
 * threads.
 */

/** What `httpTransport` takes as `fetch`. Each request has a channel of its own for the answer. */
export function portFetch(port) {
  return async (request) => {
    const { url, method, headers, signal } = request;
    const body = method === 'GET' || method === 'HEAD' ? undefined : await request.arrayBuffer();
    signal.throwIfAborted();
    const { port1: answer, port2: back } = new MessageChannel();
    let leave;
    try {
      return await new Promise((resolve, reject) => {
        leave = () => {
          answer.postMessage('left');
          reject(signal.reason);
        };
        signal.addEventListener('abort', leave);
        answer.onmessage = ({ data: { failure, status, headers, body } }) => {
          if (failure === undefined) resolve(new Response(body, { status, headers }));
          else reject(new TypeError(failure));
        };
        port.postMessage({ url, method, headers: [...headers], body, back }, [back]);
      });
    } finally {
      // From here on the body is what there is to leave.
      signal.removeEventListener('abort', leave);
      answer.close();
    }
  };
}

/** The other side: answers what comes from the port with `handler`, which `createFetchHandler` makes. */
export function answerPort(port, handler) {
  port.onmessage = async ({ data: { url, method, headers, body, back } }) => {
    const gone = new AbortController();
    back.onmessage = () => gone.abort();
    try {
      const response = await handler(new Request(url, { method, headers, body, signal: gone.signal }));
      const message = { status: response.status, headers: [...response.headers], body: response.body };
      back.postMessage(message, response.body === null ? [] : [response.body]);
    } catch (error) {
      back.postMessage({ failure: String(error) });
    }
  };
}
