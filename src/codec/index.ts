/**
 * The encodings that every handler speaks, in the order in which messages list them. Those with tables or libraries of
 * their own are entries of their own (`orchplane/codec/protobuf`, `orchplane/codec/cbor`), and a handler is given them.
 */
import type { Codec } from './codec.js';
import { jsonCodec } from './json.js';
import { yaml } from './yaml.js';

export const codecs: readonly Codec[] = [jsonCodec, yaml];
