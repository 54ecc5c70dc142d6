/**
 * Messages → documents as JSON would have them: bytes in base64, times and quantities as texts. What is no pointer is on
 * the wire also when it is empty, and is left out again here; empty messages stay, as `{}`.
 *
 * Whatever the bytes are, nothing but BodyError is thrown, in the words of the reference server's decoder.
 */
import { BodyError } from '../../protocol/body.js';
import { encodeBase64 } from '../../util/base64.js';
import { unreachable } from '../../util/invariant.js';
import { isRecord, type MutableRecord, setOwn } from '../../util/json.js';
import type { Message, MessageField } from './notation.js';
import { WireReader } from './wire.js';

/** Beginnings that are written in capitals. */
const INITIALS = new RegExp(
  `^(${[
    'api|aws|ca|cel|cidr|csi|dns|fc|fs|gce|gid|gmsa|grpc|http|id|ip|iqn|iscsi|json|nfs|os|pd(?!ID)|qos|rbd|se|ssl|tcp',
    'tls|ttl|tty|uid|url|wwid',
  ].join('|')})(?=[A-Z]|s?$)`,
);

/** Fields that have another name altogether; with the type's name in front where others of the name are regular. */
const OTHERS: ReadonlyMap<string, string> = new Map(
  [
    'cephfs=CephFS storageos=StorageOS diskURI=DataDiskURI externalID=DoNotUseExternalID',
    'chapAuthDiscovery=DiscoveryCHAPAuth chapAuthSession=SessionCHAPAuth lastState=LastTerminationState',
    'reportingComponent=ReportingController int=IntValue bool=BoolValue string=StringValue $schema=Schema $ref=Ref',
    'AdmissionResponse.status=Result SubjectAccessReviewSpec.group=Groups PodSpec.serviceAccount=DeprecatedServiceAccount',
    'GlusterfsPersistentVolumeSource.endpoints=EndpointsName GlusterfsVolumeSource.endpoints=EndpointsName',
    'RBDPersistentVolumeSource.monitors=CephMonitors RBDVolumeSource.monitors=CephMonitors',
    'RBDPersistentVolumeSource.image=RBDImage RBDVolumeSource.image=RBDImage',
    'RBDPersistentVolumeSource.pool=RBDPool RBDVolumeSource.pool=RBDPool',
    'RBDPersistentVolumeSource.user=RadosUser RBDVolumeSource.user=RadosUser',
    'DeviceAttribute.version=VersionValue APIResourceList.resources=APIResources StatusCause.reason=Type',
    'Quantity.string=String_',
  ]
    .join(' ')
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
);

/** Messages within messages beyond this are refused, so that no later walk runs out of stack. */
const MAX_DEPTH = 1_000;

/** Reads a whole message. Throws a BodyError. */
export function decodeMessage(message: Message, bytes: Uint8Array): MutableRecord {
  const document: MutableRecord = {};
  const reader = new WireReader(bytes);
  readFields(reader, message, document, 0);
  if (reader.problem !== undefined) throw reader.problem;
  return document;
}

/** Reads from where the reader is to its end, onto what `out` has already. */
function readFields(reader: WireReader, message: Message, out: MutableRecord, depth: number): void {
  if (depth > MAX_DEPTH) throw new BodyError('exceeded max depth');
  while (reader.pos < reader.len) {
    const before = reader.pos;
    reader.varint();
    const wireType = reader.low & 7;
    // 32 bits of it, as a signed number: what goes beyond them is lost.
    const number = (reader.low >>> 3) | (reader.high << 29);
    if (wireType === 4) throw new BodyError(`proto: ${goTypeName(message)}: wiretype end group for non-group`);
    if (number <= 0) {
      throw new BodyError(`proto: ${goTypeName(message)}: illegal tag ${number} (wire type ${reader.exact()})`);
    }
    const field = message.byNumber[number];
    if (field === undefined) {
      reader.pos = before;
      reader.skipField();
    } else if ((field.tag & 7) === wireType) readField(reader, field, out, depth);
    else if (field.form === 'list' && field.wireType === VARINT && wireType === LENGTH_DELIMITED) {
      readPacked(reader, field, out, depth);
    } else throw new BodyError(`proto: wrong wireType = ${wireType} for field ${goFieldName(message.name, field)}`);
  }
}

/** Wire types. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;

function readField(reader: WireReader, field: MessageField, out: MutableRecord, depth: number): void {
  if (field.form === 'one') readSingle(reader, field, out, depth);
  else if (field.form === 'map') readEntry(reader, field, out, depth);
  else itemsOf(out, field).push(readValue(reader, field, depth));
}

function readSingle(reader: WireReader, field: MessageField, out: MutableRecord, depth: number): void {
  // A message that comes twice is read onto the same value, so its parts add up; anything else is overwritten.
  const earlier = field.type !== 'message' ? undefined : field.name === '' ? out : out[field.name];
  const value = readValue(reader, field, depth, isRecord(earlier) ? earlier : undefined);
  if (field.name === '') return;
  if (value === null || (!field.pointer && isZero(field, value))) dropField(out, field.name);
  else setOwn(out, field.name, value);
}

function dropField(out: MutableRecord, name: string): void {
  // Nearly never there, and deleting makes an object slow to use.
  if (Object.hasOwn(out, name)) delete out[name];
}

/** Messages are never taken for empty: a port may be the empty text, which is not the port 0. */
function isZero({ type }: MessageField, value: unknown): boolean {
  return type !== 'message' && (value === '' || value === 0 || value === false);
}

function itemsOf(out: MutableRecord, field: MessageField): unknown[] {
  const known = out[field.name];
  if (Array.isArray(known)) return known;
  const items: unknown[] = [];
  setOwn(out, field.name, items);
  return items;
}

function readPacked(reader: WireReader, field: MessageField, out: MutableRecord, depth: number): void {
  const end = reader.extent();
  const items = itemsOf(out, field);
  while (reader.pos < end) items.push(readValue(reader, field, depth));
}

/** An entry of a map. Its parts are read without regard to their wire types and to where the entry ends. */
function readEntry(reader: WireReader, field: MessageField, out: MutableRecord, depth: number): void {
  const end = reader.extent();
  const known = out[field.name];
  const entries: MutableRecord = isRecord(known) ? known : {};
  if (entries !== known) setOwn(out, field.name, entries);
  let key = '';
  let value: unknown;
  while (reader.pos < end) {
    const before = reader.pos;
    reader.varint();
    const number = (reader.low >>> 3) | (reader.high << 29);
    if (number === 1) key = reader.text();
    else if (number === 2) value = readValue(reader, field, depth);
    else {
      reader.pos = before;
      reader.skipField();
      if (reader.pos > end) throw new BodyError('unexpected EOF');
    }
  }
  reader.pos = end;
  setOwn(entries, key, value === undefined ? zeroValue(field) : value);
}

/** The value of an entry that has none; the values of maps are texts, bytes and messages. */
function zeroValue(field: MessageField): unknown {
  if (field.type !== 'message') return '';
  const { shape } = field.message;
  return shape === undefined ? {} : shape.fromFields({}, true);
}

function readValue(reader: WireReader, field: MessageField, depth: number, onto?: MutableRecord): unknown {
  const { type } = field;
  switch (type) {
    case 'string':
      return reader.text();
    case 'int32':
      return reader.int32();
    case 'int64':
      return reader.integer();
    case 'bool':
      return reader.bool();
    case 'double':
      return reader.double();
    case 'bytes':
      return encodeBase64(reader.slice());
    case 'raw':
      return reader.slice();
    case 'message':
      return readMessage(reader, field.message, depth, onto);
    default:
      return unreachable(type);
  }
}

function readMessage(reader: WireReader, message: Message, depth: number, onto: MutableRecord = {}): unknown {
  const end = reader.extent();
  const { start, len, pos } = reader;
  const { shape } = message;
  const fields = shape === undefined ? onto : {};
  reader.start = pos;
  reader.len = end;
  readFields(reader, message, fields, depth + 1);
  reader.start = start;
  reader.len = len;
  if (shape === undefined) return fields;
  try {
    return shape.fromFields(fields, pos === end);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    // What is wrong with a value counts only when nothing is wrong with the wire.
    reader.problem ??= error;
    return null;
  }
}

/** Times of both kinds are the same message to the decoder. */
function goTypeName({ name }: Message): string {
  return name === 'Time' || name === 'MicroTime' ? 'Timestamp' : name;
}

interface NamedField {
  readonly name: string;
  readonly type: string;
  readonly message: { readonly name: string };
}

/** The name of a field; `holder` is the message it belongs to. */
function goFieldName(holder: string, field: NamedField): string {
  const { name } = field;
  // What stands among the fields of others, or describes the whole object, goes by the name of its type.
  if (name === '' || (name === 'metadata' && field.type === 'message')) return field.message.name;
  return OTHERS.get(`${holder}.${name}`) ?? OTHERS.get(name) ?? regularName(name);
}

function regularName(name: string): string {
  // A schema extension leaves out whose it is: `x-…-list-type` is `XListType`.
  const words = name.split('-');
  const parts = words.length > 1 ? words.filter((_word, index) => index !== 1) : words;
  return parts.map(capitalized).join('');
}

function capitalized(word: string): string {
  const text = word.replace(INITIALS, (initials) => initials.toUpperCase());
  return text.charAt(0).toUpperCase() + text.slice(1);
}
