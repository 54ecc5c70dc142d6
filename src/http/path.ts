/**
 * Parses a URL's path into a route. It reads only the shape; `routes.ts` decides whether the resource exists and which
 * methods it supports. spec: Path shapes
 */

/** `/api/v1/…` or `/apis/<group>/<version>/…` down to a collection or an object. */
export interface ResourceRoute {
  readonly type: 'resource';
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Present when the path has a namespace, which may be empty (`/namespaces//configmaps`). */
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** The segments that follow the subresource, with a leading slash. */
  readonly subpath?: string;
  /** The path starts with the deprecated `/watch/` prefix. */
  readonly watch: boolean;
}

/** What a path addresses. */
export type Route =
  | ResourceRoute
  /** `/api`, `/apis/apps`, `/apis/apps/v1`: documents that describe the API. No group: the list of groups. */
  | { readonly type: 'discovery'; readonly group?: string; readonly version?: string }
  /** Outside the API: `/healthz`, `/version`, anything unknown. */
  | { readonly type: 'other'; readonly path: string }
  /** A `%` that starts no valid escape. */
  | { readonly type: 'malformed' };

/** Segments after `/namespaces/<name>` that are subresources of the namespace; any other is a collection inside it. */
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'finalize']);

/**
 * Parses the percent-encoded path of a URL. The path is decoded before it is split, as in the reference server, so
 * `%2F` separates segments. Trailing slashes are ignored.
 */
export function parsePath(encoded: string): Route {
  const path = percentDecode(encoded);
  if (path === undefined) return { type: 'malformed' };
  const [root, ...parts] = withoutOuterSlashes(path).split('/');
  if (root === 'api') return parseGroupPath('', parts);
  if (root !== 'apis') return { type: 'other', path };
  const [group, ...rest] = parts;
  if (group === undefined) return { type: 'discovery' };
  return group === '' ? { type: 'other', path } : parseGroupPath(group, rest);
}

function parseGroupPath(group: string, parts: readonly string[]): Route {
  const [version, ...rest] = parts;
  if (version === undefined) return { type: 'discovery', group };
  if (rest.length === 0) return { type: 'discovery', group, version };
  // `watch` as the last segment is a resource name, not the prefix.
  const watch = rest[0] === 'watch' && rest.length > 1;
  return parseResourcePath({ group, version, segments: watch ? rest.slice(1) : rest, watch });
}

interface ResourceParts {
  readonly group: string;
  readonly version: string;
  readonly segments: readonly string[];
  readonly watch: boolean;
}

function parseResourcePath({ group, version, segments, watch }: ResourceParts): ResourceRoute {
  const [first, second, third] = segments;
  const inNamespace = first === 'namespaces' && third !== undefined && !NAMESPACE_SUBRESOURCES.has(third);
  const [plural = '', name, subresource, ...more] = inNamespace ? segments.slice(2) : segments;
  return {
    type: 'resource',
    group,
    version,
    resource: plural,
    ...(inNamespace && second !== undefined ? { namespace: second } : {}),
    ...(name === undefined ? {} : { name }),
    // `a//b` has an empty subresource, which is none.
    ...(subresource ? { subresource } : {}),
    ...(more.length > 0 ? { subpath: `/${more.join('/')}` } : {}),
    watch,
  };
}

/** Removes one leading slash and all trailing ones. */
function withoutOuterSlashes(path: string): string {
  const rest = withoutLastSlashes(path);
  return rest.startsWith('/') ? rest.slice(1) : rest;
}

/** A loop, because a regular expression is slow on long runs of slashes. */
export function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path.charAt(end - 1) === '/') end--;
  return path.slice(0, end);
}

/** Percent-decodes a text; undefined when a `%` starts no valid escape. Invalid UTF-8 becomes U+FFFD. */
export function percentDecode(encoded: string): string | undefined {
  if (!encoded.includes('%')) return encoded;
  if (/%(?![0-9a-fA-F]{2})/.test(encoded)) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // The escapes are well formed, so the bytes are invalid UTF-8.
    return encoded.replace(/(?:%[0-9a-fA-F]{2})+/g, decodeEscapedBytes);
  }
}

function decodeEscapedBytes(escapes: string): string {
  const bytes = escapes.split('%').slice(1);
  return new TextDecoder().decode(Uint8Array.from(bytes, (hex) => Number.parseInt(hex, 16)));
}
