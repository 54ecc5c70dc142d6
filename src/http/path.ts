/**
 * A URL's path → what it addresses. Only the shape is read here: whether the resource exists, and which methods it
 * takes, is for `routes.ts`. spec: Resource paths
 */

/** `/api/v1/…` or `/apis/<group>/<version>/…` down to a collection or an object. */
export interface ResourceRoute {
  readonly type: 'resource';
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Present when the path has a namespace, which may be the empty text (`/namespaces//configmaps`). */
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** Segments follow the subresource. */
  readonly deeper: boolean;
  /** The deprecated `/watch/` stood in front. */
  readonly watch: boolean;
}

export type Route =
  | ResourceRoute
  /** `/api`, `/apis/apps`, `/apis/apps/v1`: documents that describe the API. No group: the list of groups. */
  | { readonly type: 'discovery'; readonly group?: string; readonly version?: string }
  /** Outside the API: `/healthz`, `/version`, anything unknown. */
  | { readonly type: 'other'; readonly path: string }
  /** A `%` that begins no escape. */
  | { readonly type: 'malformed' };

/** Segments after `/namespaces/<name>` that belong to the namespace itself; any other is a collection inside it. */
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'finalize']);

/**
 * Reads the path part of a URL, still percent-encoded. It is decoded before it is split, as the reference router does,
 * so `%2F` divides segments. Slashes at the end do not count.
 */
export function parsePath(encoded: string): Route {
  const path = percentDecode(encoded);
  if (path === undefined) return { type: 'malformed' };
  const [root, ...parts] = withoutOuterSlashes(path).split('/');
  if (root === 'api') return inGroup('', parts);
  if (root !== 'apis') return { type: 'other', path };
  const [group, ...rest] = parts;
  if (group === undefined) return { type: 'discovery' };
  return group === '' ? { type: 'other', path } : inGroup(group, rest);
}

function inGroup(group: string, parts: readonly string[]): Route {
  const [version, ...rest] = parts;
  if (version === undefined) return { type: 'discovery', group };
  if (rest.length === 0) return { type: 'discovery', group, version };
  // `watch` with nothing behind it is the name of a resource, which nobody serves.
  const watch = rest[0] === 'watch' && rest.length > 1;
  return resource({ group, version, segments: watch ? rest.slice(1) : rest, watch });
}

interface ResourceParts {
  readonly group: string;
  readonly version: string;
  readonly segments: readonly string[];
  readonly watch: boolean;
}

function resource({ group, version, segments, watch }: ResourceParts): ResourceRoute {
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
    ...(subresource === undefined ? {} : { subresource }),
    deeper: more.length > 0,
    watch,
  };
}

/** One slash in front, any number behind. A loop, because a pattern for the latter is slow on paths made of slashes. */
function withoutOuterSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path.charAt(end - 1) === '/') end--;
  return path.slice(path.startsWith('/') ? 1 : 0, end);
}

/** The decoded text; undefined when a `%` begins no escape. Bytes that are no UTF-8 become U+FFFD. */
export function percentDecode(encoded: string): string | undefined {
  if (!encoded.includes('%')) return encoded;
  if (/%(?![0-9a-fA-F]{2})/.test(encoded)) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // The escapes are well formed, so the bytes are not.
    return encoded.replace(/(?:%[0-9a-fA-F]{2})+/g, decodeRun);
  }
}

function decodeRun(escapes: string): string {
  const bytes = escapes.split('%').slice(1);
  return new TextDecoder().decode(Uint8Array.from(bytes, (hex) => Number.parseInt(hex, 16)));
}
