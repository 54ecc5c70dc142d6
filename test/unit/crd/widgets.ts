/** Shared test data for custom resources: a CRD, its kinds, and HTTP requests. */
import type { Api, ApiObject, Cluster, Kind, ObjectMetaInput } from 'orchplane';
import { protobuf } from 'orchplane/codec/protobuf';
import { createFetchHandler } from 'orchplane/http';
import { CustomResourceDefinition } from 'orchplane/kinds';

export const GROUP = 'example.com';
export const WIDGETS = 'widgets.example.com';

type Json = Record<string, unknown>;

/** The static type of a kind that a CRD defines. */
export type Custom = Kind<ApiObject, { metadata: ObjectMetaInput; [field: string]: unknown }>;

/** A schema that accepts any object. */
export const ANYTHING = { type: 'object', 'x-orch-preserve-unknown-fields': true };

export function object(properties: Json, more: Json = {}): Json {
  return { type: 'object', properties, ...more };
}

export interface VersionFields extends Json {
  readonly name?: string;
  /** The schema of `spec`; accepts everything by default. */
  readonly spec?: Json;
  /** The whole schema. */
  readonly whole?: Json;
}

export function version({ name = 'v1', spec, whole, ...more }: VersionFields = {}): Json {
  const openAPIV3Schema = whole ?? (spec === undefined ? ANYTHING : object({ spec }));
  return { name, served: true, storage: true, schema: { openAPIV3Schema }, ...more };
}

export interface DefinitionFields {
  readonly names?: Json;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly versions?: readonly Json[];
  readonly group?: string;
  readonly metadata?: Json;
  readonly conversion?: Json;
}

/** Creates a CRD. It has the type `never`, because tests also send invalid objects. */
export function definition(fields: DefinitionFields = {}): never {
  const { names, scope = 'Namespaced', versions = [version()], group = GROUP, metadata, conversion } = fields;
  const all = { plural: 'widgets', kind: 'Widget', ...names };
  return {
    metadata: { name: `${all.plural}.${group}`, ...metadata },
    spec: { group, scope, names: all, versions, ...(conversion === undefined ? {} : { conversion }) },
  } as never;
}

export function definitions(cluster: Cluster): Api<typeof CustomResourceDefinition> {
  return cluster.api(CustomResourceDefinition);
}

/** Creates a CRD and returns the API of its first version. */
export async function define(cluster: Cluster, fields: DefinitionFields = {}): Promise<Api<Custom>> {
  const made = await definitions(cluster).create(definition(fields));
  const { group, versions, names } = made.spec;
  return cluster.api(kindOf(cluster, versions[0]?.name, names.plural, group) as Custom);
}

export function kindOf(cluster: Cluster, version = 'v1', resource = 'widgets', group = GROUP): Custom | undefined {
  return cluster.resolve({ group, version, resource })?.kind as Custom | undefined;
}

/** The API of a version; throws if it is not served. */
export function api(cluster: Cluster, version = 'v1', resource = 'widgets', namespace = 'default'): Api<Custom> {
  const kind = kindOf(cluster, version, resource);
  if (kind === undefined) throw new Error(`${resource} in ${version} is not served`);
  return kind.scope === 'Cluster' ? cluster.api(kind) : cluster.api(kind, namespace);
}

export function widget(name: string, spec: unknown = {}, more: Json = {}): never {
  return { metadata: { name }, spec, ...more } as never;
}

/** Changes the spec of an existing CRD. */
export async function redefine(cluster: Cluster, change: (spec: Json) => void, name = WIDGETS): Promise<void> {
  await definitions(cluster).edit(name, (draft) => change(draft.spec as unknown as Json));
}

export async function conditionsOf(cluster: Cluster, name = WIDGETS): Promise<Record<string, string>> {
  const { status } = await definitions(cluster).get(name);
  const entries = (status.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is} ${reason}`]);
  return Object.fromEntries(entries) as Record<string, string>;
}

export interface HttpResponse {
  readonly code: number;
  readonly body: Json & { metadata?: Json; message?: string };
  readonly text: string;
  readonly warnings: readonly string[];
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
}

/** Sends requests such as `GET /path` to the cluster over HTTP. */
export function http(cluster: Cluster): (line: string, options?: RequestOptions) => Promise<HttpResponse> {
  const handle = createFetchHandler(cluster, { codecs: [protobuf] });
  return async (line, { body, type = 'application/json', accept = 'application/json' } = {}) => {
    const [method = 'GET', path = '/'] = line.split(' ');
    const request = new Request(`http://cluster.local${path}`, {
      method,
      headers: { accept, ...(body === undefined ? {} : { 'content-type': type }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const response = await handle(request);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const warnings = [...(response.headers.get('warning') ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)];
    return {
      code: response.status,
      body: isJson && text !== '' ? JSON.parse(text) : {},
      text,
      warnings: warnings.map(([, text = '']) => text.replace(/\\(.)/g, '$1')),
    };
  };
}

export const COLLECTION = `/apis/${GROUP}/v1/namespaces/default/widgets`;
