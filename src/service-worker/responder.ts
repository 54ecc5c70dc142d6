/**
 * Which requests of a page are for the cluster, and their answers. It decides by the address alone and at once, because a
 * service worker has to say whether it answers before anything can be waited for.
 */
import { toResponse } from '../http/answer.js';
import { createHandler, type FetchHandlerOptions, HANDLER_OPTIONS } from '../http/handler.js';
import type { FetchTarget } from '../http/target.js';
import { refuseUnknownOptions } from '../util/options.js';

export interface ResponderOptions extends FetchHandlerOptions {
  /**
   * The path under which the cluster is, for pages that have an `/api` of their own: with `/cluster/`, the pods are at
   * `/cluster/api/v1/pods`. Absent: the cluster is at the root, and only the paths of the API are its own.
   */
  readonly base?: string | undefined;
  /**
   * The paths, behind `base`, that are the cluster's: each with everything below it. Absent: everything below a `base`;
   * without one, `/api`, `/apis`, `/openapi`, `/version`, `/healthz`, `/livez`, `/readyz` and `/metrics`.
   */
  readonly scope?: string | readonly string[] | undefined;
  /** Requests to other origins are none of the cluster's. Absent: the origin of the page or worker this runs in. */
  readonly origin?: string | undefined;
}

const RESPONDER_OPTIONS = [
  'base',
  'scope',
  'origin',
  ...HANDLER_OPTIONS,
] as const satisfies readonly (keyof ResponderOptions)[];

/** The answer, or undefined for a request that is not for the cluster. */
export type Responder = (request: Request) => Promise<Response> | undefined;

const API = ['/api', '/apis', '/openapi', '/version', '/healthz', '/livez', '/readyz', '/metrics'];

/**
 * For a fetch listener of your own, and for pages without service workers. Throws TypeError for a `base` or a `scope` that
 * is no path, and for an option that there is not.
 *
 * @example
 * const respond = createResponder(cluster)
 * const ask = (request: Request) => respond(request) ?? fetch(request)
 */
export function createResponder(target: FetchTarget, options: ResponderOptions = {}): Responder {
  refuseUnknownOptions('createResponder', options, RESPONDER_OPTIONS);
  const { base = '/', scope = trimmed(base) === '' ? API : '/', origin = ownOrigin(), ...handlerOptions } = options;
  const prefix = readPath('base', base);
  const roots = [scope].flat().map((path) => readPath('scope', path));
  const answerTo = createHandler(target, handlerOptions);
  return (request) => {
    const url = new URL(request.url);
    if (url.origin !== origin || !isBelow(url.pathname, prefix)) return undefined;
    const path = url.pathname.slice(prefix.length) || '/';
    if (!roots.some((root) => isBelow(path, root))) return undefined;
    return answerTo(at(`${url.origin}${path}${url.search}`, request)).then(toResponse);
  };
}

/** A worker or page knows where it is; elsewhere it has to be said. */
function ownOrigin(): string {
  const { location } = globalThis as { readonly location?: { readonly origin: string } };
  if (location === undefined) throw new TypeError('orchplane: there is no location here; say which origin is meant');
  return location.origin;
}

/** Without the slash at its end, so that the root is the empty text. */
function readPath(option: string, path: string): string {
  // What a URL has as a path is what comes back from it unchanged.
  if (!path.startsWith('/') || new URL(path, 'http://host').pathname !== path) {
    throw new TypeError(`orchplane: ${option} is no path: ${path}`);
  }
  return trimmed(path);
}

function trimmed(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** `/apis` has `/apis` and `/apis/apps` below it, and not `/apiserver`. */
function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/**
 * The same request at another address. It is no Request, because one cannot be copied whole: not that of a navigation, and
 * not the body in every browser. It holds on to the original, on which the signal depends.
 */
function at(url: string, request: Request): Parameters<ReturnType<typeof createHandler>>[0] {
  const { method, headers, body, signal } = request;
  return { method, url, headers, body, signal, arrayBuffer: () => request.arrayBuffer() };
}
