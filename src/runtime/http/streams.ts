/**
 * The streams of a process (exec, attach) over WebSocket.
 * upstream: apiserver/pkg/util/proxy/streamtranslator.go, kubelet/pkg/cri/streaming/remotecommand/websocket.go
 */

import { errors, StatusError } from '../../meta/errors.js';
import type { Status } from '../../meta/status.js';
import type { StreamConnection } from '../../protocol/connection.js';
import type { Answer, HttpRequest, MessageSocket } from '../../protocol/http.js';
import { onAbort, untilAborted } from '../../util/abort.js';
import { messageOf } from '../../util/message-of.js';
import { Channels, ClientInput } from './channels.js';
import { TerminalSizes } from './terminal-sizes.js';
import { answerWithWebSocket, chooseSubprotocol, requireWebSocket, UNSUPPORTED_SUBPROTOCOL } from './web-socket.js';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
const RESIZE = 4;

/** Version 5 takes precedence. Versions 2 and 3 exist over SPDY only. */
const VERSION_5 = /^v5\.channel$/;
const OTHER_VERSIONS = /^((v4\.)?(base64\.)?channel)?$/;

export function answerWithStreams(connection: StreamConnection, request: HttpRequest, onEnd: () => void): Answer {
  requireWebSocket(request);
  const subprotocol = chooseSubprotocol(request, VERSION_5) ?? chooseSubprotocol(request, OTHER_VERSIONS);
  if (subprotocol === undefined) return UNSUPPORTED_SUBPROTOCOL;
  const { name, isBase64 } = subprotocol;
  const isAttach = /\/attach(\?|$)/.test(request.url);
  const versions = { canClose: VERSION_5.test(name), hasStatus: /^v[45]/.test(name) };
  const session: SessionOptions = { isBase64, isAttach, ...versions };
  return answerWithWebSocket(request, subprotocol, {
    onEnd,
    converse: (socket, signal) => new StreamSession(connection, socket, session).run(signal),
  });
}

interface SessionOptions {
  readonly isBase64: boolean;
  readonly canClose: boolean;
  /** The error channel carries a Status rather than the text of an error. */
  readonly hasStatus: boolean;
  /** The client gets no exit code: it has not started the process. */
  readonly isAttach: boolean;
}

/** A Status without its type, as a client expects it on the error channel. */
type ChannelStatus = Omit<Status, 'kind' | 'apiVersion' | 'reason'> & { readonly reason?: string };

class StreamSession {
  readonly #connection: StreamConnection;
  readonly #options: SessionOptions;
  readonly #channels: Channels;
  readonly #stdin: ClientInput | undefined;
  readonly #sizes: TerminalSizes | undefined;
  /** A terminal has one output. */
  readonly #hasStderr: boolean;
  readonly #closing = new AbortController();

  constructor(connection: StreamConnection, socket: MessageSocket, options: SessionOptions) {
    const { stdin, stderr, tty } = connection;
    this.#connection = connection;
    this.#options = options;
    this.#channels = new Channels(socket, options);
    if (stdin) this.#stdin = new ClientInput();
    if (tty) this.#sizes = new TerminalSizes();
    this.#hasStderr = stderr && !tty;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { stdout } = this.#connection;
    onAbort(signal, () => this.#close(signal.reason));
    // An empty message tells the client that the connection is established.
    await this.#channels.send(stdout ? STDOUT : this.#hasStderr ? STDERR : ERROR);
    void this.#receiveAll().then(() => this.#close(new Error('the client has disconnected')));
    if (this.#closing.signal.aborted) return;
    // It rejects if the connection is closed first.
    const ended = await untilAborted(this.#runProcess(), this.#closing.signal).catch(() => undefined);
    if (ended !== undefined) await this.#sendStatus(ended);
  }

  #close(reason: unknown): void {
    this.#closing.abort(reason);
    this.#stdin?.abort(reason);
    this.#sizes?.end();
  }

  async #runProcess(): Promise<ChannelStatus> {
    const { stdout } = this.#connection;
    const { isAttach } = this.#options;
    try {
      const { exitCode } = await this.#connection.run({
        stdin: this.#stdin?.readable,
        stdout: stdout ? this.#output(STDOUT) : undefined,
        stderr: this.#hasStderr ? this.#output(STDERR) : undefined,
        sizes: this.#sizes?.readable,
        signal: this.#closing.signal,
      });
      return statusOf(isAttach ? 0 : exitCode);
    } catch (error) {
      const action = isAttach ? 'attaching to container' : 'executing command in container';
      const failure = StatusError.is(error) ? error : errors.internal(`error ${action}: ${messageOf(error)}`, error);
      const { kind: _kind, apiVersion: _apiVersion, ...status } = failure.status;
      return status;
    }
  }

  #output(channel: number): WritableStream<Uint8Array> {
    return new WritableStream({ write: (bytes) => this.#channels.send(channel, bytes) });
  }

  /** Passes on what the client sends. Resolves when it has disconnected or violated the protocol. */
  async #receiveAll(): Promise<void> {
    for (
      let message = await this.#channels.receive();
      message !== undefined;
      message = await this.#channels.receive()
    ) {
      const { channel, data } = message;
      if (data === undefined) {
        if (channel > RESIZE) return;
        if (channel === STDIN) this.#stdin?.end();
        if (channel === RESIZE) this.#sizes?.end();
      } else if (channel === STDIN) await this.#stdin?.write(data);
      else if (channel === RESIZE) this.#sizes?.push(data);
    }
  }

  async #sendStatus(status: ChannelStatus): Promise<void> {
    const text = this.#options.hasStatus ? JSON.stringify(status) : (status.message ?? '');
    if (text !== '') await this.#channels.send(ERROR, new TextEncoder().encode(text));
  }
}

function statusOf(exitCode: number): ChannelStatus {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}
