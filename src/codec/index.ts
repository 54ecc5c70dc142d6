/**
 * The codecs that every HTTP handler has, in the order in which messages list them. The larger codecs are separate entry
 * points (`orchplane/codec/protobuf`, `orchplane/codec/cbor`) and are passed to the handler.
 */
import type { Codec } from './codec.js';
import { jsonCodec } from './json.js';
import { yaml } from './yaml.js';

export const codecs: readonly Codec[] = [jsonCodec, yaml];
