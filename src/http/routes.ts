/**
 * A path and a method → one verb on one resource, or the refusal. Built-in kinds stand behind a router that knows each
 * path and its methods; users' own kinds are served by one handler that reads the path itself, so the two refuse
 * differently. spec: Resource paths, Errors
 */
import type { Kind } from '../kinds/kind.js';
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
  /** What can be done with it and its collection; absent: everything. */
  readonly verbs?: readonly Verb[];
}

export type Routed =
  | Action
  | { readonly type: 'refused'; readonly error: StatusError; readonly allow?: readonly string[] }
  /** There is no such path: the plain-text 404. */
  | { readonly type: 'nothing' };

export interface Action {
  readonly type: 'action';
  readonly verb: Verb;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** What the caller has besides the path. */
export interface Call {
  readonly method: string;
  /** The query asks for a watch. */
  readonly watch: boolean;
}

export function routeResource(served: ServedResource, route: ResourceRoute, call: Call): Routed {
  return served.kind.representation === 'struct' ? throughRouter(served, route, call) : directly(served, route, call);
}

/** The kinds of paths the router knows, each with its methods in the order that `Allow` lists them. */
const METHODS = {
  collection: { GET: 'list', POST: 'create', DELETE: 'deletecollection' },
  everywhere: { GET: 'list' },
  watch: { GET: 'watch' },
  object: { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
  subresource: { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Verb>>>>;

/** What is meant for somebody else comes by any method. */
const ANY_METHOD: Readonly<Record<string, Verb>> = { ...METHODS.subresource, HEAD: 'get', OPTIONS: 'get' };

function throughRouter(served: ServedResource, route: ResourceRoute, call: Call): Routed {
  const level = levelOf(route, served.kind);
  if (level === undefined) return NOT_FOUND;
  const isProxy = belowObject(served.kind, route.subresource ?? '')?.deeper === true;
  const methods: Readonly<Record<string, Verb>> = isProxy ? ANY_METHOD : METHODS[level];
  const serves = (verb: Verb): boolean => servedVerbs(served, route)?.includes(verb) ?? true;
  const verb = own(methods, call.method);
  if (verb === undefined || !serves(verb)) {
    const allow = Object.entries(methods).flatMap(([method, allowed]) => (serves(allowed) ? [method] : []));
    if (allow.length === 0) return NOT_FOUND;
    return { type: 'refused', error: errors.router('MethodNotAllowed'), allow };
  }
  if (verb === 'list' && call.watch) return serves('watch') ? action('watch', route) : unsupported(served, 'watch');
  return action(verb, route);
}

const NOT_FOUND: Routed = { type: 'refused', error: errors.router('NotFound') };

/** Undefined when the path has no meaning for a kind of this scope. */
function levelOf(route: ResourceRoute, kind: Kind): keyof typeof METHODS | undefined {
  const everywhere = kind.scope === 'Namespaced' && route.namespace === undefined;
  const below = route.subresource === undefined ? undefined : belowObject(kind, route.subresource);
  if ((route.deeper && below?.deeper !== true) || (kind.scope === 'Cluster' && route.namespace !== undefined))
    return undefined;
  if (everywhere && route.name !== undefined) return undefined;
  if (route.watch) return route.subresource === undefined ? 'watch' : undefined;
  if (route.subresource !== undefined) return below === undefined ? undefined : 'subresource';
  if (route.name !== undefined) return 'object';
  return everywhere ? 'everywhere' : 'collection';
}

/** What stands below an object under a name. */
function belowObject(kind: Kind, name: string): { readonly verbs: readonly Verb[]; deeper?: boolean } | undefined {
  const connection = kind.connectSubresources === undefined ? undefined : own(kind.connectSubresources, name);
  return connection ?? own(kind.subresources, name);
}

/** Whether an address is a line to somebody else, who knows which encodings it takes. A log is only read. */
export function isLine({ connectSubresources: connections }: Kind, { subresource }: Action): boolean {
  const connection = connections === undefined ? undefined : own(connections, subresource ?? '');
  return connection !== undefined && connection.verbs.length > 1;
}

/** The verbs of the resource, or of what is below it by the name in the path; undefined: all. */
function servedVerbs(served: ServedResource, { subresource }: ResourceRoute): readonly Verb[] | undefined {
  return subresource === undefined ? served.verbs : belowObject(served.kind, subresource)?.verbs;
}

/** Users' own kinds: the method alone gives the verb, and what makes no sense is found out afterwards. */
function directly(served: ServedResource, route: ResourceRoute, call: Call): Routed {
  const verb = verbOf(route, call);
  const namespaced = (route.namespace ?? '') !== '';
  if (served.kind.scope === 'Cluster' && namespaced) return { type: 'nothing' };
  if (served.kind.scope === 'Namespaced' && !namespaced && verb !== 'list' && verb !== 'watch') {
    return { type: 'nothing' };
  }
  const { group, resource } = served.gvr;
  if (route.subresource !== undefined && own(served.kind.subresources, route.subresource) === undefined) {
    return { type: 'refused', error: errors.notFound({ group, resource }, route.name ?? '') };
  }
  if (verb === undefined) return unsupported(served, '');
  if (!(servedVerbs(served, route)?.includes(verb) ?? true)) return unsupported(served, verb);
  // Of a patch it is first found out whether it is one.
  if (verb === 'update' && route.name === undefined) return NO_NAME;
  return action(verb, route);
}

const NO_NAME: Routed = { type: 'refused', error: errors.badRequest('name must be provided') };

const VERBS: Readonly<Record<string, Verb>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** What a path and a method mean before it is known what is there. */
export function verbOf(route: ResourceRoute, call: Call): Verb | undefined {
  if (route.watch) return 'watch';
  const verb = own(VERBS, call.method);
  if (route.name !== undefined) return verb;
  if (verb === 'get') return call.watch ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

function unsupported({ gvr: { group, resource } }: ServedResource, verb: string): Routed {
  return { type: 'refused', error: errors.methodNotSupported({ group, resource }, verb) };
}

/** An empty namespace means all of them, which only a collection can be asked for. */
function action(verb: Verb, { namespace, name, subresource }: ResourceRoute): Routed {
  if (name === '') return NO_NAME;
  if (namespace === '' && name !== undefined) return NO_NAMESPACE;
  return {
    type: 'action',
    verb,
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    // The name of what is created stands in the body.
    ...(name === undefined || (verb === 'create' && subresource === undefined) ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

const NO_NAMESPACE: Routed = { type: 'refused', error: errors.badRequest('Namespace parameter required.') };
