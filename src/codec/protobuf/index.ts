/**
 * The Protobuf encoding of built-in kinds: the entry `orchplane/codec/protobuf`.
 */
export { protobuf } from './protobuf.js';
