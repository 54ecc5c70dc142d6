/**
 * The messages of etcd's API that the store uses, by field name and number.
 * upstream: etcd/api/etcdserverpb/rpc.proto, etcd/api/mvccpb/kv.proto, etcd/api/authpb
 */
import protobuf from 'protobufjs/light.js';

/** A 64-bit number: protobufjs has its own class for them if the package `long` is installed. */
export type Int64 = number | { toNumber(): number };

export interface KeyValue {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly createRevision: Int64;
  readonly modRevision: Int64;
  readonly version: Int64;
  readonly lease: Int64;
}

export interface ResponseHeader {
  readonly revision: Int64;
}

export interface RangeRequest {
  readonly key: Uint8Array;
  readonly rangeEnd?: Uint8Array;
  readonly limit?: number;
  readonly revision?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
  /** Returns only keys whose last change has this revision or a later one. `count` includes the others. */
  readonly minModRevision?: number;
}

export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  /** The number of keys in the range. */
  readonly count: Int64;
}

/** Compares the revision of the last change of a key; 0: the key does not exist. */
export interface Compare {
  readonly result: 0;
  /** 0: the number of changes of the key; 2: the revision of the last one. */
  readonly target: 0 | 2;
  readonly key: Uint8Array;
  readonly version?: number;
  readonly modRevision?: number;
}

export interface RequestOp {
  readonly requestRange?: RangeRequest;
  readonly requestPut?: { readonly key: Uint8Array; readonly value: Uint8Array; readonly lease?: number };
  readonly requestDeleteRange?: { readonly key: Uint8Array };
}

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}

export interface TxnResponse {
  readonly header: ResponseHeader;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly responseRange?: RangeResponse | null }[];
}

export interface WatchEvent {
  /** 0: put; 1: delete. */
  readonly type: 0 | 1;
  readonly kv: KeyValue;
}

export interface WatchResponse {
  readonly header: ResponseHeader;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: Int64;
  readonly cancelReason: string;
  readonly fragment: boolean;
  readonly events: readonly WatchEvent[];
}

/** `name: number type`, with `[]` for lists. */
const MESSAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ResponseHeader: { revision: '3 int64' },
  KeyValue: {
    key: '1 bytes',
    createRevision: '2 int64',
    modRevision: '3 int64',
    version: '4 int64',
    value: '5 bytes',
    lease: '6 int64',
  },
  RangeRequest: {
    key: '1 bytes',
    rangeEnd: '2 bytes',
    limit: '3 int64',
    revision: '4 int64',
    keysOnly: '8 bool',
    countOnly: '9 bool',
    minModRevision: '10 int64',
  },
  RangeResponse: { header: '1 ResponseHeader', kvs: '2 []KeyValue', more: '3 bool', count: '4 int64' },
  PutRequest: { key: '1 bytes', value: '2 bytes', lease: '3 int64' },
  DeleteRangeRequest: { key: '1 bytes' },
  RequestOp: { requestRange: '1 RangeRequest', requestPut: '2 PutRequest', requestDeleteRange: '3 DeleteRangeRequest' },
  ResponseOp: { responseRange: '1 RangeResponse' },
  Compare: { result: '1 int32', target: '2 int32', key: '3 bytes', version: '4 int64', modRevision: '6 int64' },
  TxnRequest: { compare: '1 []Compare', success: '2 []RequestOp', failure: '3 []RequestOp' },
  TxnResponse: { header: '1 ResponseHeader', succeeded: '2 bool', responses: '3 []ResponseOp' },
  CompactionRequest: { revision: '1 int64' },
  CompactionResponse: { header: '1 ResponseHeader' },
  WatchCreateRequest: {
    key: '1 bytes',
    rangeEnd: '2 bytes',
    startRevision: '3 int64',
    progressNotify: '4 bool',
    fragment: '8 bool',
  },
  WatchProgressRequest: {},
  WatchRequest: { createRequest: '1 WatchCreateRequest', progressRequest: '3 WatchProgressRequest' },
  WatchResponse: {
    header: '1 ResponseHeader',
    created: '3 bool',
    canceled: '4 bool',
    compactRevision: '5 int64',
    cancelReason: '6 string',
    fragment: '7 bool',
    events: '11 []Event',
  },
  Event: { type: '1 int32', kv: '2 KeyValue' },
  LeaseGrantRequest: { TTL: '1 int64', ID: '2 int64' },
  LeaseGrantResponse: { header: '1 ResponseHeader', ID: '2 int64' },
  StatusRequest: {},
  StatusResponse: { header: '1 ResponseHeader', version: '2 string' },
  AuthenticateRequest: { name: '1 string', password: '2 string' },
  AuthenticateResponse: { header: '1 ResponseHeader', token: '2 string' },
};

const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries(
    Object.entries(MESSAGES).map(([message, fields]) => [
      message,
      { fields: Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, fieldOf(text)])) },
    ]),
  ),
});

function fieldOf(text: string): protobuf.IField {
  const [id, type = ''] = text.split(' ');
  return type.startsWith('[]') ? { id: Number(id), type: type.slice(2), rule: 'repeated' } : { id: Number(id), type };
}

/** How a message is written and read. */
export interface MessageCodec {
  encode(message: object): Buffer;
  decode(bytes: Uint8Array): object;
}

export function messageCodec(name: string): MessageCodec {
  const type = root.lookupType(name);
  return {
    encode: (message) => {
      const bytes = type.encode(message).finish();
      return bytes instanceof Buffer ? bytes : Buffer.from(bytes);
    },
    decode: (bytes) => type.decode(bytes),
  };
}

export function toNumber(value: Int64): number {
  return typeof value === 'number' ? value : value.toNumber();
}
