/**
 * The paths and operations of a cluster, independent of the OpenAPI version. Each served kind has paths for its
 * collection, its objects, their subresources and the deprecated watch paths.
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

/** The type of a request or response body. */
export type Content =
  | { readonly of: 'kind' | 'list'; readonly served: ServedKind }
  | { readonly of: 'meta'; readonly type: MetaType };

/** The set of media types of an operation; see `producedTypes` and `consumedTypes`. */
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
  readonly responses: readonly { readonly code: number; readonly content: Content }[];
  readonly encodings: Encodings;
  /** The response may be a watch stream. */
  readonly streams: boolean;
}

export interface PathItem {
  readonly path: string;
  /** The parameters that all operations share. */
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

/**
 * False for custom resources and user-defined kinds. The reference server publishes those with another builder, which
 * omits discovery paths, deprecated watch paths and some parameters.
 */
export function isBuiltIn({ kind }: ServedKind): boolean {
  return kind.representation === 'struct';
}

/** All paths of one group and version, sorted. `served` are its kinds. */
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

/** The discovery paths: `/api/`, `/apis/`, `/apis/<group>/`, `/version/`. */
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
  const responses = [{ code: 200, content: { of: 'meta', type } as const }];
  return {
    method: 'get',
    id,
    tag: 'apis',
    description,
    parameters: [],
    responses,
    encodings: 'discovery',
    streams: false,
  };
}

function rootPath({ group, version }: GroupVersion): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** The parts that the operations of one group and version share. */
interface Naming {
  readonly prefix: string;
  readonly tag: string;
  readonly root: string;
}

/** One path; its operations follow from the verbs. */
interface Address {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The part of operation ids after the verb and the group: `NamespacedPod`, `NamespacedPodStatus`. */
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
  if (namespaced && served.verbs.includes('list')) items.push(allNamespacesItem(served, naming));
  for (const [sub, subresource] of Object.entries(kind.subresources)) {
    const address = {
      path: `${object.path}/${sub}`,
      parameters: object.parameters,
      subject: `${subject}${capitalized(sub)}`,
    };
    items.push(subresourceItem(served, subresource, { address, naming, name: sub }));
  }
  if (served.verbs.includes('watch') && isBuiltIn(served)) items.push(...watchItems(served, naming));
  return items.filter((item) => item.operations.length > 0);
}

function collectionItem(served: ServedKind, address: Address, naming: Naming): PathItem {
  const { kind } = served.gvk;
  const operation = operationsOf(served, naming, address.subject);
  const self: Content = { of: 'kind', served };
  const made: Record<string, Operation> = {
    list: listOperation(operation, served, ''),
    create: operation('post', 'post', {
      verb: 'create',
      description: `Creates a ${kind}.`,
      parameters: writeParameters,
      body: { content: self, required: true },
      responses: responsesWith(self, 200, 201, 202),
    }),
    deletecollection: operation('delete', 'deletecollection', {
      verb: 'delete',
      collection: true,
      description: `Deletes all objects of kind ${kind} that are selected.`,
      ...(isBuiltIn(served)
        ? { parameters: deleteCollectionParameters, body: DELETE_OPTIONS }
        : { parameters: listParameters }),
      responses: responsesWith(STATUS, 200),
    }),
  };
  return pathItem(address.path, address.parameters, selectOperations(made, served.verbs));
}

function objectItem(served: ServedKind, address: Address, naming: Naming): PathItem {
  const { kind } = served.gvk;
  const operation = operationsOf(served, naming, address.subject);
  const deleted: Content = served.kind.strategy.delete.returnDeletedObject === true ? { of: 'kind', served } : STATUS;
  const made: Record<string, Operation> = {
    ...readAndWrite(served, { payload: served, what: `a ${kind}`, operation }),
    delete: operation('delete', 'delete', {
      description: `Deletes a ${kind}.`,
      parameters: deleteParameters,
      body: DELETE_OPTIONS,
      responses: responsesWith(deleted, 200, 202),
    }),
  };
  return pathItem(address.path, address.parameters, selectOperations(made, served.verbs));
}

function allNamespacesItem(served: ServedKind, naming: Naming): PathItem {
  const { gvk, gvr } = served;
  const operation = operationsOf(served, naming, `${gvk.kind}ForAllNamespaces`);
  const list = listOperation(operation, served, ' in all namespaces');
  return pathItem(`${naming.root}/${gvr.resource}`, [pretty], [list]);
}

function listOperation(operation: MakeOperation, served: ServedKind, where: string): Operation {
  return operation('get', 'list', {
    description: `Lists or watches objects of kind ${served.gvk.kind}${where}.`,
    parameters: listParameters,
    responses: responsesWith({ of: 'list', served }, 200),
    streams: true,
  });
}

function subresourceItem(
  served: ServedKind,
  subresource: AnySubresource,
  at: { readonly address: Address; readonly naming: Naming; readonly name: string },
): PathItem {
  const payload = subresource.type === undefined ? served : serveKind(subresource.kind, served.dialect);
  const operation = operationsOf(isBuiltIn(served) ? payload : served, at.naming, at.address.subject);
  const self: Content = { of: 'kind', served: payload };
  const what = `${at.name} of a ${served.gvk.kind}`;
  const made: Record<string, Operation> = {
    ...readAndWrite(served, { payload, what, operation }),
    create: operation('post', 'post', {
      verb: 'create',
      description: `Creates ${what}.`,
      parameters: writeParameters,
      body: { content: self, required: true },
      responses: responsesWith(self, 200, 201, 202),
    }),
  };
  return pathItem(at.address.path, at.address.parameters, selectOperations(made, subresource.verbs));
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
      responses: responsesWith({ of: 'meta', type: 'WatchEvent' }, 200),
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

type OperationDetails = Pick<Operation, 'description' | 'parameters' | 'responses'> &
  Partial<Pick<Operation, 'body' | 'streams'>> & {
    /** The verb in the operation id, where it differs from the action. */
    readonly verb?: string;
    readonly collection?: boolean;
  };

type MakeOperation = (method: Method, action: string, more: OperationDetails) => Operation;

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
  {
    payload,
    what,
    operation,
  }: { readonly payload: ServedKind; readonly what: string; readonly operation: MakeOperation },
): Record<'get' | 'update' | 'patch', Operation> {
  const self: Content = { of: 'kind', served: payload };
  return {
    get: operation('get', 'get', {
      verb: 'read',
      description: `Reads ${what}.`,
      parameters: isBuiltIn(served) ? [] : readParameters,
      responses: responsesWith(self, 200),
    }),
    update: operation('put', 'put', {
      verb: 'replace',
      description: `Replaces ${what}.`,
      parameters: writeParameters,
      body: { content: self, required: true },
      responses: responsesWith(self, 200, 201),
    }),
    patch: operation('patch', 'patch', {
      description: `Changes parts of ${what}.`,
      parameters: patchParameters,
      body: { content: { of: 'meta', type: 'Patch' }, required: true },
      responses: isBuiltIn(served) ? responsesWith(self, 200, 201) : responsesWith(self, 200),
    }),
  };
}

function responsesWith(content: Content, ...codes: readonly number[]): Operation['responses'] {
  return codes.map((code) => ({ code, content }));
}

function selectOperations(made: Readonly<Record<string, Operation>>, verbs: readonly Verb[]): Operation[] {
  return Object.entries(made).flatMap(([verb, operation]) =>
    (verbs as readonly string[]).includes(verb) ? [operation] : [],
  );
}

/** Parameters that all operations take are listed at the path. */
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
