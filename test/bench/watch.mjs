/**
 * Fan-out: a thousand watchers, a hundred in each of ten namespaces, each a `for await` loop over the public watch. An
 * operation is the delivery of one event to one loop.
 *
 * The baseline is a Map of objects, an array of events per namespace, and a promise per reader that resolves when there
 * is a new event.
 */
import { createCluster } from '../../dist/index.js';
import { ConfigMap, Namespace } from '../../dist/kinds/index.js';
import { bareObject, configMapInputs } from './fixtures.mjs';
import { compare, verify } from './measure.mjs';

const NAMESPACES = Array.from({ length: 10 }, (_, index) => `team-${index}`);
const WATCHERS_EACH = 100;
const BURST = 100;

export async function watchFanOut({ scale, ...settings }) {
  const inputs = configMapInputs(Math.max(BURST, Math.ceil((2_000 * scale) / BURST) * BURST));
  const goal = 3_000_000;
  const oneByOne = await compare(fanOut(inputs, 1), settings);
  const inBursts = await compare(fanOut(inputs, BURST), settings);
  const fromHistory = await compare(catchUp(inputs), settings);
  return [
    { name: 'watch deliveries, each write awaited', unit: 'ops/s', goal, ...oneByOne },
    { name: `watch deliveries, bursts of ${BURST} writes`, unit: 'ops/s', goal, ...inBursts },
    { name: 'watch deliveries, from history', unit: 'ops/s', goal, ...fromHistory },
  ];
}

/** Includes the time of the writes. */
function fanOut(inputs, burst) {
  const count = inputs.length * WATCHERS_EACH;
  const side = (make) => ({
    count,
    async prepare() {
      const state = await make(count);
      state.open();
      // Every loop waits for its first event.
      await new Promise((resolve) => setImmediate(resolve));
      return state;
    },
    run: (state) => deliver(state, inputs, burst),
    check: closeAll,
  });
  return { ours: side(makeCluster), bare: side(makeBare) };
}

/** The watchers start at a past resourceVersion after all writes, so only deliveries are measured. */
function catchUp(inputs) {
  const count = inputs.length * WATCHERS_EACH;
  const side = (make) => ({
    count,
    async prepare() {
      const state = await make(count);
      for (const [index, input] of inputs.entries()) await state.write(NAMESPACES[index % NAMESPACES.length], input);
      return state;
    },
    run(state) {
      state.open();
      return state.tally.complete;
    },
    check: closeAll,
  });
  return { ours: side(makeCluster), bare: side(makeBare) };
}

/** Writes the objects round robin over the namespaces; resolves after the last delivery. */
async function deliver({ write, tally }, inputs, burst) {
  for (let i = 0; i < inputs.length; i += burst) {
    const written = [];
    for (let j = i; j < i + burst; j++) written.push(write(NAMESPACES[j % NAMESPACES.length], inputs[j]));
    if (burst === 1) await written[0];
    else await Promise.all(written);
  }
  await tally.complete;
}

/** Counts deliveries in total and by reader. */
function newTally(expected) {
  const tally = { delivered: 0, expected, byReader: [], done: () => undefined, complete: undefined };
  tally.complete = new Promise((resolve) => {
    tally.done = resolve;
  });
  return tally;
}

/** The measured loop. */
async function readWatch(watch, reader, tally) {
  tally.byReader[reader] = 0;
  for await (const event of watch) {
    if (event.type === 'ADDED') tally.byReader[reader]++;
    if (++tally.delivered === tally.expected) tally.done();
  }
}

/** A copy of the loop, so that type feedback of one side does not slow down the other. */
async function readBare(events, reader, tally) {
  tally.byReader[reader] = 0;
  for await (const event of events) {
    if (event.type === 'ADDED') tally.byReader[reader]++;
    if (++tally.delivered === tally.expected) tally.done();
  }
}

async function closeAll({ close, tally, loops }) {
  close();
  await Promise.all(loops);
  const each = tally.expected / (NAMESPACES.length * WATCHERS_EACH);
  verify(tally.delivered === tally.expected, `${tally.expected} deliveries, no more`);
  verify(tally.byReader.length === NAMESPACES.length * WATCHERS_EACH, 'all watchers are there');
  verify(
    tally.byReader.every((seen) => seen === each),
    `every watcher sees ${each} events`,
  );
}

async function makeCluster(expected) {
  const cluster = createCluster();
  const apis = new Map();
  for (const name of NAMESPACES) {
    await cluster.api(Namespace).create({ metadata: { name } });
    apis.set(name, cluster.api(ConfigMap, name));
  }
  const { resourceVersion } = cluster;
  const tally = newTally(expected);
  const loops = [];
  const open = () => {
    for (let i = 0; i < WATCHERS_EACH; i++) {
      for (const api of apis.values()) loops.push(readWatch(api.watch({ resourceVersion }), loops.length, tally));
    }
  };
  const write = (namespace, input) => apis.get(namespace).create(input);
  return { tally, loops, open, write, close: () => cluster.close() };
}

function makeBare(expected) {
  const objects = new Map();
  const channels = new Map(NAMESPACES.map((name) => [name, { events: [], readers: [] }]));
  const tally = newTally(expected);
  const loops = [];
  const open = () => {
    for (let i = 0; i < WATCHERS_EACH; i++) {
      for (const { events, readers } of channels.values()) {
        const reader = new BareReader(events);
        readers.push(reader);
        loops.push(readBare(reader, loops.length, tally));
      }
    }
  };
  let revision = 0;
  const write = async (namespace, input) => {
    const object = bareObject(input, namespace, ++revision);
    objects.set(`${namespace}/${input.metadata.name}`, object);
    const { events, readers } = channels.get(namespace);
    events.push({ type: 'ADDED', object });
    for (const reader of readers) reader.wake();
  };
  const close = () => {
    for (const { readers } of channels.values()) for (const reader of readers) reader.close();
  };
  return { tally, loops, open, write, close };
}

class BareReader {
  #events;
  #position = 0;
  #resolve;

  constructor(events) {
    this.#events = events;
  }

  next() {
    if (this.#position < this.#events.length) return Promise.resolve(this.#take());
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  wake() {
    if (this.#resolve === undefined) return;
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve(this.#take());
  }

  close() {
    this.#resolve?.({ done: true, value: undefined });
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  #take() {
    return { done: false, value: this.#events[this.#position++] };
  }
}
