/** A client of connections over WebSocket. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { type ServedRuntime, TOKEN } from './served-runtime.js';

export const POD = '/api/v1/namespaces/default/pods/web';

export interface ClientOptions {
  readonly protocols?: readonly string[];
  readonly origin?: string;
  /** Messages are not read before {@link ChannelClient.read}. */
  readonly isPaused?: boolean;
}

export class ChannelClient {
  readonly webSocket: WebSocket;
  /** All messages so far. */
  readonly messages: Buffer[] = [];
  /** Resolves with the code when the connection is closed. */
  readonly closed: Promise<number>;

  constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on('error', () => undefined);
    webSocket.on('message', (message: Buffer) => this.messages.push(message));
    this.closed = new Promise((resolve) => webSocket.once('close', resolve));
  }

  /** The content of a channel so far. */
  text(channel: number): string {
    const own = this.messages.filter(([first]) => first === channel);
    return own.map((message) => message.subarray(1).toString()).join('');
  }

  /** Resolves when the content of a channel matches. */
  async until(channel: number, pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text(channel))) await once(this.webSocket, 'message');
  }

  /** Resolves when the server has taken the message. */
  send(channel: number, content: string | Uint8Array): Promise<void> {
    const message = Buffer.concat([Buffer.from([channel]), Buffer.from(content)]);
    return new Promise((resolve, reject) =>
      this.webSocket.send(message, (error) => (error ? reject(error) : resolve())),
    );
  }

  /** The Status on the error channel, when the connection is closed. */
  async status(): Promise<unknown> {
    await this.closed;
    return JSON.parse(this.text(3));
  }
}

function webSocketTo(
  { server }: Pick<ServedRuntime, 'server'>,
  path: string,
  { protocols, origin }: ClientOptions,
): WebSocket {
  const names = protocols ?? ['v5.channel.k8s.io'];
  return new WebSocket(server.url.replace('http', 'ws') + POD + path, names.map(tokenFor), {
    headers: { authorization: `Bearer ${TOKEN}` },
    rejectUnauthorized: false,
    ...(origin === undefined ? {} : { origin }),
    // The package sends and accepts tokens only, but the name of the tunnel is none.
    finishRequest(request) {
      if (names.length > 0) request.setHeader('Sec-WebSocket-Protocol', names.join(', '));
      request.prependListener('upgrade', ({ headers }: IncomingMessage) => {
        const named = headers['sec-websocket-protocol'];
        if (named !== undefined) headers['sec-websocket-protocol'] = tokenFor(named);
      });
      request.end();
    },
  });
}

function tokenFor(protocol: string): string {
  return protocol.replaceAll('/', '-');
}

/** Opens a connection to a subresource of the pod. */
export async function connect(
  served: Pick<ServedRuntime, 'server'>,
  path: string,
  options: ClientOptions = {},
): Promise<ChannelClient> {
  const client = new ChannelClient(webSocketTo(served, path, options));
  await once(client.webSocket, 'open');
  if (options.isPaused === true) client.webSocket.pause();
  return client;
}

/** The status code and the body of a handshake that is rejected. */
export async function rejection(
  served: Pick<ServedRuntime, 'server'>,
  path: string,
  options: ClientOptions = {},
): Promise<{ readonly code: number | undefined; readonly text: string }> {
  const webSocket = webSocketTo(served, path, options);
  webSocket.on('error', () => undefined);
  const [, response] = (await once(webSocket, 'unexpected-response')) as [unknown, IncomingMessage];
  let text = '';
  for await (const part of response) text += String(part);
  webSocket.terminate();
  return { code: response.statusCode, text };
}

export const execPath = (command: readonly string[], more = ''): string =>
  `/exec?${command.map((word) => `command=${encodeURIComponent(word)}`).join('&')}&stdout=true&stderr=true${more}`;

/** Resolves when the condition holds. */
export async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
