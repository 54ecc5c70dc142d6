/**
 * A cluster as one part of a server that is there already: of node:http, or of a framework that hands on its requests as
 * Node made them (Express, Connect). `serve` is the same with a server of its own.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FetchTarget } from '../http/target.js';
import { refuseUnknownOptions } from '../util/options.js';
import { ATTACH_OPTIONS, type AttachOptions, listenerFor } from './attach.js';

/**
 * Absent `tokens`: every request comes from the administrator, and nobody is asked for a token.
 */
export type NodeListenerOptions = AttachOptions;

/** Answers every request it is given, and never hands one on. */
export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * The paths of the API are those in `incoming.url`; a framework that mounts the listener has to strip what is in front of
 * them. The body must not have been read. Watches end with the cluster, or when their connections are closed.
 * Throws TypeError for options it does not know, and for tokens that have no users.
 *
 * @example
 * const { createServer } = await import('node:http');
 * createServer(createNodeListener(cluster, { tokens: { secret: { user: 'alice' } } })).listen(8080, '127.0.0.1');
 */
export function createNodeListener(cluster: FetchTarget, options: NodeListenerOptions = {}): NodeListener {
  refuseUnknownOptions('createNodeListener', options, ATTACH_OPTIONS);
  const { request } = listenerFor(cluster, { ...options, origin: originOf });
  return (incoming, outgoing) => void request(incoming, outgoing);
}

/** As the client sees the server. Whoever sends a host that is none gets an answer without it. */
function originOf({ headers: { host = '' } }: IncomingMessage): string {
  return `http://${/^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i.test(host) ? host : 'cluster.local'}`;
}
