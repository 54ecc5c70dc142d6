/**
 * Clients in their own process: sixteen keep-alive connections with one request at a time. The parent sends the requests
 * (`{ jobs }` or `{ watchers }`) and receives the number of correct responses.
 *
 * It implements HTTP itself, because a client library would need more time than the measured server.
 */
import { connect } from 'node:net';
import process from 'node:process';

const CONNECTIONS = 16;

process.on('message', async (order) => {
  // The start signal for open watches; see below.
  if (order === 'go') return;
  process.send(await (order.watch === undefined ? ask(order) : watch(order)));
});

/** Sends all requests as fast as the connections accept them. */
async function ask({ port, requests }) {
  let next = 0;
  let right = 0;
  const connections = Array.from({ length: CONNECTIONS }, () => new Connection(port));
  await Promise.all(
    connections.map(async (connection) => {
      while (next < requests.length) {
        const { code, bytes } = await connection.ask(requests[next++]);
        if (code < 300 && bytes > 0) right++;
      }
    }),
  );
  for (const connection of connections) connection.end();
  return { right };
}

/** Opens watches, then writes, and waits until every watch has received every write. */
async function watch({ port, watch: { watchers, request }, requests }) {
  const wanted = requests.length;
  const streams = await Promise.all(Array.from({ length: watchers }, () => openStream(port, request, wanted)));
  process.send({ ready: true });
  await new Promise((resolve) => process.once('message', resolve));
  const { right } = await ask({ port, requests });
  await Promise.all(streams.map((stream) => stream.complete));
  for (const stream of streams) stream.end();
  return { right: right === wanted ? wanted * watchers : 0 };
}

/** Counts the lines of a watch; each chunk ends at the end of a line. */
function openStream(port, request, wanted) {
  const socket = connect(port, '127.0.0.1');
  let lines = 0;
  let opened;
  let completed;
  const complete = new Promise((resolve) => {
    completed = resolve;
  });
  const open = new Promise((resolve) => {
    opened = resolve;
  });
  socket.on('data', (data) => {
    opened({ complete, end: () => socket.destroy() });
    for (let at = data.indexOf('}\n'); at !== -1; at = data.indexOf('}\n', at + 2)) lines++;
    if (lines >= wanted) completed();
  });
  socket.write(request);
  return open;
}

class Connection {
  #socket;
  #head = '';
  #left = 0;
  #bytes = 0;
  #code = 0;
  #tail = '';
  #state = 'head';
  #answered;

  constructor(port) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (data) => this.#read(data));
  }

  ask(request) {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.write(request);
    });
  }

  end() {
    this.#socket.destroy();
  }

  #read(data) {
    let body = data;
    if (this.#state === 'head') {
      this.#head += data.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = this.#head.slice(0, end).toLowerCase();
      const behind = this.#head.length - end - 4;
      body = data.subarray(data.length - behind);
      this.#head = '';
      this.#code = Number(head.slice(9, 12));
      this.#bytes = 0;
      const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
      this.#state = length === undefined ? 'chunks' : 'length';
      this.#left = Number(length ?? 0);
      this.#tail = '';
    }
    this.#bytes += body.length;
    if (this.#state === 'length') {
      this.#left -= body.length;
      if (this.#left <= 0) this.#finish();
      return;
    }
    // The last chunk is empty; no document has a line of this form.
    this.#tail = (this.#tail + body.subarray(-7).toString('latin1')).slice(-7);
    if (this.#tail.endsWith('0\r\n\r\n')) this.#finish();
  }

  #finish() {
    this.#state = 'head';
    this.#answered({ code: this.#code, bytes: this.#bytes });
  }
}
