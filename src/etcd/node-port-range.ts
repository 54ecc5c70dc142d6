/**
 * The allocated node ports as kube-apiserver stores them: a bitmap under the key `ranges/servicenodeports`. Without it
 * the server allocates the ports of all Services anew when it starts, with a warning for each.
 */
import { protobuf } from '../codec/protobuf/protobuf.js';
import { NODE_PORT_RANGE } from '../kinds/core/v1/service/node-ports.js';
import type { Dialect } from '../meta/dialect.js';
import { encodeBase64 } from '../util/base64.js';

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
