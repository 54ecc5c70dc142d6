/**
 * What can be asked of a cluster, by path, before either version of OpenAPI puts it into its own words. Each served
 * kind yields its collection, its objects, their subresources and the older addresses of watches.
 */

import { type ServedKind, serveKind } from '../../kinds/served-kind.js';
import type { AnySubresource } from '../../kinds/subresource.js';
import type { GroupVersion, GroupVersionKind } from '../../meta/gvk.js';
import type { Verb } from '../../protocol/request.js';
import type { MetaType } from './meta-types.js';
import { capitalized, operationGroup, operationTag } from './names.js';
import {
  deleteCollectionParameters,
  deleteParameters,
  listParameters,
  name as nameParameter,
  namespace as namespaceParameter,
  type Parameter,
  patchParameters,
  pretty,
  readParameters,
  writeParameters,
} from './parameters.js';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** A type that goes over the wire. */
export type Content =
  | { readonly of: 'kind' | 'list'; readonly served: ServedKind }
  | { readonly of: 'meta'; readonly type: MetaType };

/** In which encodings an operation speaks; see `media-types.ts`. */
export type Encodings = 'all' | 'text' | 'discovery' | 'version';

export interface Operation {
  readonly method: Method;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly content: Content; readonly required: boolean };
  readonly answers: readonly { readonly code: number; readonly content: Content }[];
  readonly encodings: Encodings;
  /** A watch may answer. */
  readonly streams: boolean;
}

export interface PathItem {
  readonly path: string;
  /** Of all its operations. */
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

/**
 * False for users' kinds. In the reference server another part tells about those, in its own way: nothing of their
 * discovery and of the older addresses of watches, and less of what can be asked.
 */
export function isBuiltIn({ kind }: ServedKind): boolean {
  return kind.manner === 'struct';
}

/** All paths of one group and version, in their order; `served` are the kinds in it, of which there is one at least. */
export function pathsOfGroupVersion(served: readonly [ServedKind, ...ServedKind[]]): readonly PathItem[] {
  const { gvr: gv, dialect } = served[0];
  const prefix = `${operationGroup(gv.group, dialect)}${capitalized(gv.version)}`;
  const tag = operationTag(gv.group, dialect, gv.version);
  const items: PathItem[] = [];
  if (served.some(isBuiltIn)) {
    const resources: Operation = {
      ...discovery(`get${prefix}APIResources`, 'APIResourceList', 'The resources of this version.'),
      tag,
      encodings: 'all',
    };
    items.push(pathItem(`${rootPath(gv)}/`, [], [resources]));
  }
  for (const kind of served) items.push(...pathsOfKind(kind, { prefix, tag, root: rootPath(gv) }));
  return items.sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** The addresses at which a cluster tells what it serves: `/api/`, `/apis/`, `/apis/<group>/`, `/version/`. */
export function discoveryPath(at: 'api' | 'apis' | 'version' | { readonly served: ServedKind }): PathItem {
  if (typeof at !== 'string') {
    const { gvr, dialect } = at.served;
    const name = `get${operationGroup(gvr.group, dialect)}APIGroup`;
    const operation = discovery(name, 'APIGroup', 'The versions of this group.');
    return pathItem(`/apis/${gvr.group}/`, [], [{ ...operation, tag: operationTag(gvr.group, dialect) }]);
  }
  switch (at) {
    case 'api': {
      const operation = discovery('getCoreAPIVersions', 'APIVersions', 'The versions of the core group.');
      return pathItem('/api/', [], [{ ...operation, tag: 'core' }]);
    }
    case 'apis':
      return pathItem('/apis/', [], [discovery('getAPIVersions', 'APIGroupList', 'The groups that are served.')]);
    case 'version': {
      const operation = discovery('getCodeVersion', 'Info', 'The version of the server.');
      return pathItem('/version/', [], [{ ...operation, tag: 'version', encodings: 'version' }]);
    }
  }
}

function discovery(id: string, type: MetaType, description: string): Operation {
  const answers = [{ code: 200, content: { of: 'meta', type } as const }];
  return {
    method: 'get',
    id,
    tag: 'apis',
    description,
    parameters: [],
    answers,
    encodings: 'discovery',
    streams: false,
  };
}

function rootPath({ group, version }: GroupVersion): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** What the operations of one group and version have in common. */
interface Naming {
  readonly prefix: string;
  readonly tag: string;
  readonly root: string;
}

/** One address: which operations there are follows from the verbs. */
interface Address {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** In the names of its operations, after the verb and the group: `NamespacedPod`, `NamespacedPodStatus`. */
  readonly subject: string;
}

function pathsOfKind(served: ServedKind, naming: Naming): PathItem[] {
  const { kind, gvr, namespaced } = served;
  const scoped = namespaced ? `/namespaces/{namespace}/${gvr.resource}` : `/${gvr.resource}`;
  const inScope = namespaced ? [namespaceParameter] : [];
  const subject = `${namespaced ? 'Namespaced' : ''}${kind.kind}`;
  const collection: Address = { path: `${naming.root}${scoped}`, parameters: [...inScope, pretty], subject };
  const object: Address = {
    path: `${naming.root}${scoped}/{name}`,
    parameters: [nameParameter, ...inScope, pretty],
    subject,
  };
  const items = [collectionItem(served, collection, naming), objectItem(served, object, naming)];
  if (namespaced && served.verbs.includes('list')) items.push(everywhereItem(served, naming));
  for (const [sub, subresource] of Object.entries(kind.subresources)) {
    const below = {
      path: `${object.path}/${sub}`,
      parameters: object.parameters,
      subject: `${subject}${capitalized(sub)}`,
    };
    items.push(subresourceItem(served, subresource, { address: below, naming, name: sub }));
  }
  if (served.verbs.includes('watch') && isBuiltIn(served)) items.push(...watchItems(served, naming));
  return items.filter((item) => item.operations.length > 0);
}

function collectionItem(served: ServedKind, address: Address, naming: Naming): PathItem {
  const { kind } = served.gvk;
  const operation = operationsOf(served, naming, address.subject);
  const self: Content = { of: 'kind', served };
  const made: Record<string, Operation> = {
    list: operation('get', 'list', {
      description: `Lists or watches objects of kind ${kind}.`,
      parameters: listParameters,
      answers: answering({ of: 'list', served }, 200),
      streams: true,
    }),
    create: operation('post', 'post', {
      verb: 'create',
      description: `Creates a ${kind}.`,
      parameters: writeParameters,
      body: { content: self, required: true },
      answers: answering(self, 200, 201, 202),
    }),
    deletecollection: operation('delete', 'deletecollection', {
      verb: 'delete',
      collection: true,
      description: `Deletes all objects of kind ${kind} that are selected.`,
      ...(isBuiltIn(served)
        ? { parameters: deleteCollectionParameters, body: DELETE_OPTIONS }
        : { parameters: listParameters }),
      answers: answering(STATUS, 200),
    }),
  };
  return pathItem(address.path, address.parameters, chosen(made, served.verbs));
}

function objectItem(served: ServedKind, address: Address, naming: Naming): PathItem {
  const { kind } = served.gvk;
  const operation = operationsOf(served, naming, address.subject);
  const deleted: Content = served.kind.strategy.deleteReturnsObject ? { of: 'kind', served } : STATUS;
  const made: Record<string, Operation> = {
    ...readAndWrite(served, { shown: served, what: `a ${kind}`, operation }),
    delete: operation('delete', 'delete', {
      description: `Deletes a ${kind}.`,
      parameters: deleteParameters,
      body: DELETE_OPTIONS,
      answers: answering(deleted, 200, 202),
    }),
  };
  return pathItem(address.path, address.parameters, chosen(made, served.verbs));
}

function everywhereItem(served: ServedKind, naming: Naming): PathItem {
  const { gvk, gvr } = served;
  const list = operationsOf(served, naming, `${gvk.kind}ForAllNamespaces`)('get', 'list', {
    description: `Lists or watches objects of kind ${gvk.kind} in all namespaces.`,
    parameters: listParameters,
    answers: answering({ of: 'list', served }, 200),
    streams: true,
  });
  return pathItem(`${naming.root}/${gvr.resource}`, [pretty], [list]);
}

function subresourceItem(
  served: ServedKind,
  subresource: AnySubresource,
  at: { readonly address: Address; readonly naming: Naming; readonly name: string },
): PathItem {
  const shown = subresource.type === undefined ? served : serveKind(subresource.kind, served.dialect);
  const operation = operationsOf(isBuiltIn(served) ? shown : served, at.naming, at.address.subject);
  const self: Content = { of: 'kind', served: shown };
  const what = `${at.name} of a ${served.gvk.kind}`;
  const made: Record<string, Operation> = {
    ...readAndWrite(served, { shown, what, operation }),
    create: operation('post', 'post', {
      verb: 'create',
      description: `Creates ${what}.`,
      parameters: writeParameters,
      body: { content: self, required: true },
      answers: answering(self, 200, 201, 202),
    }),
  };
  return pathItem(at.address.path, at.address.parameters, chosen(made, subresource.verbs));
}

function watchItems(served: ServedKind, naming: Naming): PathItem[] {
  const { gvk, gvr, namespaced } = served;
  const inScope = namespaced ? [namespaceParameter] : [];
  const scoped = namespaced ? `namespaces/{namespace}/${gvr.resource}` : gvr.resource;
  const subject = `${namespaced ? 'Namespaced' : ''}${gvk.kind}`;
  const watch = (action: 'watch' | 'watchlist', subject: string) =>
    operationsOf(served, naming, subject)('get', action, {
      verb: 'watch',
      description: `Watches objects of kind ${gvk.kind}. Deprecated: use the watch parameter of a list.`,
      parameters: [],
      answers: answering({ of: 'meta', type: 'WatchEvent' }, 200),
      streams: true,
    });
  const root = `${naming.root}/watch`;
  const parameters = [...listParameters, pretty];
  const item = (path: string, more: readonly Parameter[], operation: Operation) =>
    pathItem(`${root}/${path}`, [...parameters, ...more], [operation]);
  return [
    item(scoped, inScope, watch('watchlist', `${subject}List`)),
    ...(served.verbs.includes('get')
      ? [item(`${scoped}/{name}`, [nameParameter, ...inScope], watch('watch', subject))]
      : []),
    ...(namespaced ? [item(gvr.resource, [], watch('watchlist', `${gvk.kind}ListForAllNamespaces`))] : []),
  ];
}

const STATUS: Content = { of: 'meta', type: 'Status' };
const DELETE_OPTIONS = { content: { of: 'meta', type: 'DeleteOptions' }, required: false } as const;

type Described = Pick<Operation, 'description' | 'parameters' | 'answers'> &
  Partial<Pick<Operation, 'body' | 'streams'>> & {
    /** In its name, where that is not its action. */
    readonly verb?: string;
    readonly collection?: boolean;
  };

type MakeOperation = (method: Method, action: string, more: Described) => Operation;

function operationsOf(served: ServedKind, naming: Naming, subject: string): MakeOperation {
  return (method, action, { verb = action, collection = false, streams = false, ...more }) => ({
    method,
    id: `${verb}${naming.prefix}${collection ? 'Collection' : ''}${subject}`,
    tag: naming.tag,
    action,
    kind: served.gvk,
    encodings: isBuiltIn(served) ? 'all' : 'text',
    streams,
    ...more,
  });
}

function readAndWrite(
  served: ServedKind,
  { shown, what, operation }: { readonly shown: ServedKind; readonly what: string; readonly operation: MakeOperation },
): Record<'get' | 'update' | 'patch', Operation> {
  const self: Content = { of: 'kind', served: shown };
  return {
    get: operation('get', 'get', {
      verb: 'read',
      description: `Reads ${what}.`,
      parameters: isBuiltIn(served) ? [] : readParameters,
      answers: answering(self, 200),
    }),
    update: operation('put', 'put', {
      verb: 'replace',
      description: `Replaces ${what}.`,
      parameters: writeParameters,
      body: { content: self, required: true },
      answers: answering(self, 200, 201),
    }),
    patch: operation('patch', 'patch', {
      description: `Changes parts of ${what}.`,
      parameters: patchParameters,
      body: { content: { of: 'meta', type: 'Patch' }, required: true },
      answers: isBuiltIn(served) ? answering(self, 200, 201) : answering(self, 200),
    }),
  };
}

function answering(content: Content, ...codes: readonly number[]): Operation['answers'] {
  return codes.map((code) => ({ code, content }));
}

function chosen(made: Readonly<Record<string, Operation>>, verbs: readonly Verb[]): Operation[] {
  return Object.entries(made).flatMap(([verb, operation]) =>
    (verbs as readonly string[]).includes(verb) ? [operation] : [],
  );
}

/** Parameters that every operation takes stand with the path. */
function pathItem(path: string, parameters: readonly Parameter[], operations: readonly Operation[]): PathItem {
  const [first, ...others] = operations;
  const common = (first?.parameters ?? []).filter((parameter) =>
    others.every((operation) => operation.parameters.includes(parameter)),
  );
  return {
    path,
    parameters: byName([...parameters, ...common]),
    operations: operations.map((operation) => ({
      ...operation,
      parameters: byName(operation.parameters.filter((parameter) => !common.includes(parameter))),
    })),
  };
}

function byName(parameters: readonly Parameter[]): readonly Parameter[] {
  return [...parameters].sort((left, right) => (left.name < right.name ? -1 : 1));
}
