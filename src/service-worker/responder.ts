/**
 * Decides which requests of a page are for the cluster, and answers them. It decides synchronously by the URL alone,
 * because a service worker must call respondWith before it can await anything.
 */
import { toResponse } from '../http/answer.js';
import { createHandler, type FetchHandlerOptions, HANDLER_OPTIONS } from '../http/handler.js';
import type { FetchTarget } from '../http/target.js';
import { refuseUnknownOptions } from '../util/options.js';

/** The options of {@link createResponder}. */
export interface ResponderOptions extends FetchHandlerOptions {
  /**
   * The path prefix of the cluster, for pages with an `/api` of their own: with `/cluster/`, pods are at
   * `/cluster/api/v1/pods`. Absent: the cluster is at the root, and only API paths belong to it.
   */
  readonly base?: string | undefined;
  /**
   * The paths below `base` that belong to the cluster, each with everything below it. By default everything below
   * `base`; without `base`: `/api`, `/apis`, `/openapi`, `/version`, `/healthz`, `/livez`, `/readyz` and `/metrics`.
   */
  readonly scope?: string | readonly string[] | undefined;
  /** Requests to other origins are ignored. By default the origin of the current page or worker. */
  readonly origin?: string | undefined;
}

const RESPONDER_OPTIONS = [
  'base',
  'scope',
  'origin',
  ...HANDLER_OPTIONS,
] as const satisfies readonly (keyof ResponderOptions)[];

/** Returns the response, or undefined for a request that is not for the cluster. */
export type Responder = (request: Request) => Promise<Response> | undefined;

const API_PATHS = ['/api', '/apis', '/openapi', '/version', '/healthz', '/livez', '/readyz', '/metrics'];

/**
 * Creates a responder for your own fetch listener, or for pages without a service worker. Throws TypeError for an
 * invalid `base` or `scope` and for unknown options.
 *
 * @example
 * const respond = createResponder(cluster)
 * const send = (request: Request) => respond(request) ?? fetch(request)
 */
export function createResponder(target: FetchTarget, options: ResponderOptions = {}): Responder {
  refuseUnknownOptions('createResponder', options, RESPONDER_OPTIONS);
  const {
    base = '/',
    scope = withoutTrailingSlash(base) === '' ? API_PATHS : '/',
    origin = currentOrigin(),
    ...handlerOptions
  } = options;
  const prefix = readPath('base', base);
  const roots = [scope].flat().map((path) => readPath('scope', path));
  const answerTo = createHandler(target, handlerOptions);
  return (request) => {
    const url = new URL(request.url);
    if (url.origin !== origin || !isBelow(url.pathname, prefix)) return undefined;
    const path = url.pathname.slice(prefix.length) || '/';
    if (!roots.some((root) => isBelow(path, root))) return undefined;
    return answerTo(withUrl(`${url.origin}${path}${url.search}`, request)).then(toResponse);
  };
}

/** The origin of the current worker or page; elsewhere the option is required. */
function currentOrigin(): string {
  const { location } = globalThis as { readonly location?: { readonly origin: string } };
  if (location === undefined) throw new TypeError('orchplane: there is no location here; give the option origin');
  return location.origin;
}

/** Without the trailing slash, so that the root is the empty string. */
function readPath(option: string, path: string): string {
  // A valid path is unchanged by URL parsing.
  if (!path.startsWith('/') || new URL(path, 'http://host').pathname !== path) {
    throw new TypeError(`orchplane: ${option} is not a valid path: ${path}`);
  }
  return withoutTrailingSlash(path);
}

function withoutTrailingSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** `/apis` contains `/apis` and `/apis/apps`, but not `/apiserver`. */
function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/**
 * The request with another URL. It is not a Request, because some cannot be copied (navigation requests; bodies in some
 * browsers). It keeps a reference to the original, on which the signal depends.
 */
function withUrl(url: string, request: Request): Parameters<ReturnType<typeof createHandler>>[0] {
  const { method, headers, body, signal } = request;
  return { method, url, headers, body, signal, arrayBuffer: () => request.arrayBuffer() };
}
