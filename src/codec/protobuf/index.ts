/**
 * orchplane/codec/protobuf: the Protobuf codec for built-in kinds.
 */
export { protobuf } from './protobuf.js';
