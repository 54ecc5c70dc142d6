/**
 * The entry point `orchplane/http`: serves a cluster over HTTP and connects clients to a cluster over HTTP.
 */

export type { AuthenticationRequest, RequestAuthenticator, TokenTable as Tokens } from '../auth/authentication.js';
export type { Codec, Document, Encoded, EncodeOptions, EventDocument, StreamCodec } from '../codec/codec.js';
export type {
  AggregatedApi,
  AggregatedHandler,
  AggregatedTarget,
  Aggregation,
} from '../kinds/apiregistration/reach.js';
export { BodyError } from '../protocol/body.js';
export type {
  Answer,
  ByteSource,
  HttpHeaders,
  HttpRequest,
  MessageSocket,
  Peer,
  WebSocketSession,
} from '../protocol/http.js';
export type { FetchHandler, FetchHandlerOptions, Handler } from './handler.js';
export { createFetchHandler, createHandler } from './handler.js';
export type { ErrorListener } from './respond.js';
export type { ServedResource } from './routes.js';
export type { FetchTarget } from './target.js';
export { type HttpTransportOptions, httpTransport } from './transport/http-transport.js';
