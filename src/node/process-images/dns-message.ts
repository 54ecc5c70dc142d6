/**
 * Answers DNS queries for IPv4 and IPv6 addresses (RFC 1035). Other types get an empty answer.
 */
const TYPE_A = 1;
const TYPE_AAAA = 28;
const CLASS_IN = 1;
const TTL_SECONDS = 5;
const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;

/** The answer to a query with one question; undefined: the message is not one. */
export function answerQuery(query: Buffer, resolve: (name: string) => readonly string[]): Buffer | undefined {
  if (query.length < HEADER_BYTES || query.readUInt16BE(4) !== 1 || (query[2] ?? 0) >= 0x80) return undefined;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    // A question is not compressed.
    if (length > 63 || at + length >= query.length) return undefined;
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += length + 1;
  }
  const end = at + 5;
  if (end > query.length) return undefined;
  const type = query.readUInt16BE(at + 1);
  const addresses = resolve(labels.join('.').toLowerCase());
  const matching = addresses.filter((address) =>
    type === TYPE_A ? !address.includes(':') : type === TYPE_AAAA && address.includes(':'),
  );
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  // A response with authority and recursion, and the recursion flag of the query.
  header[2] = 0x84 | ((query[2] ?? 0) & 0x01);
  header[3] = 0x80 | (addresses.length === 0 ? NO_SUCH_NAME : 0);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(matching.length, 6);
  return Buffer.concat([
    header,
    query.subarray(HEADER_BYTES, end),
    ...matching.map((address) => recordOf(type, address)),
  ]);
}

function recordOf(type: number, address: string): Buffer {
  const data = type === TYPE_A ? Buffer.from(address.split('.').map(Number)) : bytesOfIpv6(address);
  const record = Buffer.alloc(12);
  // A pointer to the name in the question.
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(CLASS_IN, 4);
  record.writeUInt32BE(TTL_SECONDS, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
}

function bytesOfIpv6(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail)];
  const bytes = Buffer.alloc(16);
  for (const [at, group] of all.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), at * 2);
  return bytes;
}
