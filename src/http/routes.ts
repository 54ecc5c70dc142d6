/**
 * Maps a path and a method to a verb on a resource, or to an error. Built-in kinds are behind a router that knows each
 * path and its methods; custom resources are served by one handler that reads the path itself, so their errors differ.
 * spec: Path shapes, Errors
 */
import type { Kind } from '../kinds/kind.js';
import type { ConnectSubresource } from '../kinds/subresource.js';
import type { StatusError } from '../meta/errors.js';
import { errors } from '../meta/errors.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { Verb } from '../protocol/request.js';
import { own } from '../util/json.js';
import type { ResourceRoute } from './path.js';

/** A resource that the cluster serves. */
export interface ServedResource {
  readonly kind: Kind;
  /** In the dialect of the cluster. */
  readonly gvr: GroupVersionResource;
  /** The supported verbs; absent: all. */
  readonly verbs?: readonly Verb[];
}

/** The result of routing: an action, an error, or no such path. */
export type Routed =
  | Action
  | { readonly type: 'refused'; readonly error: StatusError; readonly allow?: readonly string[] }
  /** No such path: a plain-text 404. */
  | { readonly type: 'notFound' };

/** One verb on a collection, an object or a subresource. */
export interface Action {
  readonly type: 'action';
  readonly verb: Verb;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** The request's method and watch flag. */
export interface Call {
  readonly method: string;
  /** The query requests a watch. */
  readonly watch: boolean;
}

/** Routes a request for a served resource. */
export function routeResource(served: ServedResource, route: ResourceRoute, call: Call): Routed {
  return served.kind.representation === 'struct' ? routeBuiltIn(served, route, call) : routeCustom(served, route, call);
}

/** The path levels of the router, each with its methods in the order in which `Allow` lists them. */
const METHODS = {
  collection: { GET: 'list', POST: 'create', DELETE: 'deletecollection' },
  allNamespaces: { GET: 'list' },
  watch: { GET: 'watch' },
  object: { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
  subresource: { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Verb>>>>;

/** A proxy subresource accepts every method. */
const PROXY_METHODS: Readonly<Record<string, Verb>> = { ...METHODS.subresource, HEAD: 'get', OPTIONS: 'get' };

function routeBuiltIn(served: ServedResource, route: ResourceRoute, call: Call): Routed {
  const level = pathLevelOf(route, served.kind);
  if (level === undefined) return NOT_FOUND;
  const isProxy = subresourceOf(served.kind, route.subresource ?? '')?.allowsSubpaths === true;
  const methods: Readonly<Record<string, Verb>> = isProxy ? PROXY_METHODS : METHODS[level];
  const serves = (verb: Verb): boolean => servedVerbs(served, route)?.includes(verb) ?? true;
  const verb = own(methods, call.method);
  if (verb === undefined || !serves(verb)) {
    const allow = Object.entries(methods).flatMap(([method, allowed]) => (serves(allowed) ? [method] : []));
    if (allow.length === 0) return NOT_FOUND;
    return { type: 'refused', error: errors.genericServerResponse('MethodNotAllowed'), allow };
  }
  if (verb === 'list' && call.watch)
    return serves('watch') ? toAction('watch', route) : methodNotSupported(served, 'watch');
  return toAction(verb, route);
}

const NOT_FOUND: Routed = { type: 'refused', error: errors.genericServerResponse('NotFound') };

/** Undefined when the path is invalid for a kind of this scope. */
function pathLevelOf(route: ResourceRoute, kind: Kind): keyof typeof METHODS | undefined {
  const isAllNamespaces = kind.scope === 'Namespaced' && route.namespace === undefined;
  const below = route.subresource === undefined ? undefined : subresourceOf(kind, route.subresource);
  if (
    (route.subpath !== undefined && below?.allowsSubpaths !== true) ||
    (kind.scope === 'Cluster' && route.namespace !== undefined)
  )
    return undefined;
  if (isAllNamespaces && route.name !== undefined) return undefined;
  if (route.watch) return route.subresource === undefined ? 'watch' : undefined;
  if (route.subresource !== undefined) return below === undefined ? undefined : 'subresource';
  if (route.name !== undefined) return 'object';
  return isAllNamespaces ? 'allNamespaces' : 'collection';
}

/** The subresource of a kind with this name. */
function subresourceOf(kind: Kind, name: string): Pick<ConnectSubresource, 'verbs' | 'allowsSubpaths'> | undefined {
  const connection = kind.connectSubresources === undefined ? undefined : own(kind.connectSubresources, name);
  return connection ?? own(kind.subresources, name);
}

/**
 * Whether an action addresses a connect subresource, whose backend negotiates encodings itself. A log is read like an
 * ordinary subresource.
 */
export function isConnectSubresource({ connectSubresources }: Kind, { subresource }: Action): boolean {
  const connection = connectSubresources === undefined ? undefined : own(connectSubresources, subresource ?? '');
  return connection !== undefined && connection.verbs.length > 1;
}

/** The verbs of the resource, or of the subresource in the path; undefined: all. */
function servedVerbs(served: ServedResource, { subresource }: ResourceRoute): readonly Verb[] | undefined {
  return subresource === undefined ? served.verbs : subresourceOf(served.kind, subresource)?.verbs;
}

/** Custom resources: the method alone determines the verb, and invalid combinations are rejected afterwards. */
function routeCustom(served: ServedResource, route: ResourceRoute, call: Call): Routed {
  const verb = verbOf(route, call);
  const namespaced = (route.namespace ?? '') !== '';
  if (served.kind.scope === 'Cluster' && namespaced) return { type: 'notFound' };
  if (served.kind.scope === 'Namespaced' && !namespaced && verb !== 'list' && verb !== 'watch') {
    return { type: 'notFound' };
  }
  const { group, resource } = served.gvr;
  if (route.subresource !== undefined && own(served.kind.subresources, route.subresource) === undefined) {
    return { type: 'refused', error: errors.notFound({ group, resource }, route.name ?? '') };
  }
  if (verb === undefined) return methodNotSupported(served, '');
  if (!(servedVerbs(served, route)?.includes(verb) ?? true)) return methodNotSupported(served, verb);
  // An update or a patch without a name is rejected later, in the encoding that the client accepts.
  return toAction(verb, route);
}

const NAME_REQUIRED: Routed = { type: 'refused', error: errors.badRequest('name must be provided') };

const VERBS: Readonly<Record<string, Verb>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** The verb of a path and a method, regardless of whether the resource exists. */
export function verbOf(route: ResourceRoute, call: Call): Verb | undefined {
  if (route.watch) return 'watch';
  const verb = own(VERBS, call.method);
  if (route.name !== undefined) return verb;
  if (verb === 'get') return call.watch ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

function methodNotSupported({ gvr: { group, resource } }: ServedResource, verb: string): Routed {
  return { type: 'refused', error: errors.methodNotSupported({ group, resource }, verb) };
}

/** An empty namespace means all namespaces, which is valid only for collections. */
function toAction(verb: Verb, { namespace, name, subresource }: ResourceRoute): Routed {
  if (name === '') return NAME_REQUIRED;
  if (namespace === '' && name !== undefined) return NAMESPACE_REQUIRED;
  return {
    type: 'action',
    verb,
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    // The name of a created object is in the body.
    ...(name === undefined || (verb === 'create' && subresource === undefined) ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

const NAMESPACE_REQUIRED: Routed = { type: 'refused', error: errors.badRequest('Namespace parameter required.') };
