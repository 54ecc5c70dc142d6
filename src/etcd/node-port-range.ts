/**
 * The allocated node ports as kube-apiserver stores them: a bitmap under the key `ranges/servicenodeports`. Without it
 * the server allocates the ports of all Services anew when it starts, with a warning for each.
 */
import { protobuf, protobufBody } from '../codec/protobuf/protobuf.js';
import { NODE_PORT_RANGE } from '../kinds/core/v1/service/node-ports.js';
import type { Dialect } from '../meta/dialect.js';
import { StorageError } from '../storage/types.js';
import { encodeBase64 } from '../util/base64.js';
import { isRecord } from '../util/json.js';

/** The path below the prefix. */
export const NODE_PORTS_PATH = 'ranges/servicenodeports';

/** The value for the allocated ports. */
export function encodeNodePorts(ports: Iterable<number>, dialect: Dialect): Uint8Array {
  const [first, last] = NODE_PORT_RANGE;
  const bits = [...ports].filter((port) => port >= first && port <= last).map((port) => port - first);
  // A big-endian number whose lowest bit is the first port.
  const bytes = new Uint8Array(Math.ceil((Math.max(-1, ...bits) + 1) / 8));
  for (const bit of bits) {
    const at = bytes.length - 1 - (bit >> 3);
    bytes[at] = (bytes[at] ?? 0) | (1 << (bit & 7));
  }
  const allocation = {
    kind: 'RangeAllocation',
    apiVersion: 'v1',
    metadata: {},
    range: `${first}-${last}`,
    data: encodeBase64(bytes),
  };
  return protobuf.encode(allocation, { dialect, pretty: false }) as Uint8Array;
}

/** A change of the allocated ports that belongs to a change of Services. */
export interface RangeChange {
  /** The revision of the last change; 0: there is none. */
  readonly before: number;
  readonly value: Uint8Array;
}

/** The allocation as this process knows it. */
export class NodePortRange {
  readonly #dialect: Dialect;
  #ports: ReadonlySet<number> = new Set();
  #revision = 0;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Called with the value that etcd has. */
  receive(value: Uint8Array, revision: number): void {
    this.#revision = revision;
    try {
      this.#ports = decodeNodePorts(value, this.#dialect);
    } catch {
      // The next change replaces a value that cannot be decoded with what was known before.
    }
  }

  /** The key was deleted. The next change writes all ports again. */
  forgetRevision(): void {
    this.#revision = 0;
  }

  /** The value, if there is one, will be received again. */
  clear(): void {
    this.#ports = new Set();
    this.#revision = 0;
  }

  /** Returns undefined if no port changes. Throws StorageError `stale` if another server has allocated one. */
  change(released: Iterable<number>, allocated: Iterable<number>): RangeChange | undefined {
    const [before, after] = [new Set(released), new Set(allocated)];
    const added = [...after].filter((port) => !before.has(port));
    const removed = new Set([...before].filter((port) => !after.has(port)));
    if (added.length + removed.size === 0) return undefined;
    if (added.some((port) => this.#ports.has(port))) throw new StorageError('stale');
    const ports = [...this.#ports].filter((port) => !removed.has(port));
    return { before: this.#revision, value: encodeNodePorts([...ports, ...added], this.#dialect) };
  }
}

/** The allocated ports of a value; none if there is no value. */
function decodeNodePorts(value: Uint8Array, dialect: Dialect): Set<number> {
  const [first, last] = NODE_PORT_RANGE;
  const document = value.length === 0 ? {} : protobufBody(value, dialect).read().value;
  const bytes = isRecord(document) && typeof document['data'] === 'string' ? atob(document['data']) : '';
  const ports = new Set<number>();
  // Another program may have written more bits than there are ports.
  for (let port = first; port <= last; port++) {
    const bit = port - first;
    const at = bytes.length - 1 - (bit >> 3);
    if (at >= 0 && (bytes.charCodeAt(at) & (1 << (bit & 7))) !== 0) ports.add(port);
  }
  return ports;
}
