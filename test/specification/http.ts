/** A cluster in dialect orch behind the HTTP handler, for tests written from the specification. */
import { type ClusterOptions, createCluster } from 'orchplane';
import { cbor } from 'orchplane/codec/cbor';
import { protobuf } from 'orchplane/codec/protobuf';
import { createFetchHandler, type FetchHandlerOptions } from 'orchplane/http';
import { fakeClock } from 'orchplane/testing';

/** Everything that the specification describes is enabled. */
export const EVERYTHING: ClusterOptions = {
  runtimeConfig: 'api/all=true',
  featureGates: {
    ClusterTrustBundle: true,
    ClusterTrustBundleProjection: true,
    DynamicResourceAllocation: true,
    StorageVersionMigrator: true,
  },
};

export const MAPS = '/api/v1/namespaces/default/configmaps';

export const RBAC = '/apis/rbac.authorization.orch.io/v1';

interface Meta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly managedFields: readonly Readonly<Record<string, unknown>>[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The members of responses that tests read; all others by matching. */
export interface Document {
  readonly kind: string;
  readonly metadata: Meta;
  readonly items: readonly Document[];
  readonly reason?: string;
  readonly message: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

export interface Event {
  readonly type: string;
  readonly object: Document;
}

interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The name of the token; the administrator's by default. Empty: no credentials. */
  readonly as?: string;
}

const TOKENS = {
  root: { user: 'root', groups: ['system:masters'] },
  alice: { user: 'alice', groups: ['system:authenticated'] },
};

export const PATCHES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export function open(options: ClusterOptions = {}, handlerOptions: FetchHandlerOptions = { tokens: TOKENS }) {
  const clock = fakeClock();
  const cluster = createCluster({ clock, ...options });
  const handle = createFetchHandler(cluster, { codecs: [protobuf, cbor], ...handlerOptions });
  const request = (method: string, path: string, { body, headers, as = 'root' }: Sent = {}) => {
    const content = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    return handle(
      new Request(`http://cluster${path}`, {
        method,
        ...(body === undefined ? {} : { body: (content ? body : JSON.stringify(body)) as BodyInit }),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(as === '' ? {} : { authorization: `Bearer ${as}` }),
          ...headers,
        },
      }),
    );
  };
  const send = async (method: string, path: string, sent?: Sent) => {
    const response = await request(method, path, sent);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      code: response.status,
      headers: response.headers,
      body: (isJson ? JSON.parse(text) : { text }) as Document,
    };
  };
  return {
    cluster,
    clock,
    /** The Response itself. */
    request,
    send,
    post: (path: string, body: unknown, sent?: Sent) => send('POST', path, { ...sent, body }),
    put: (path: string, body: unknown, sent?: Sent) => send('PUT', path, { ...sent, body }),
    patch: (type: keyof typeof PATCHES, path: string, body: unknown, as?: string) =>
      send('PATCH', path, { body, headers: { 'content-type': PATCHES[type] }, ...(as === undefined ? {} : { as }) }),
    /** A config map in the namespace default. */
    map: (name: string, more: MapParts = {}) => send('POST', MAPS, { body: configMap(name, more) }),
    /** Opens a watch; returns a function that reads the next event, or undefined at the end of the stream. */
    watch: async (path: string) => {
      const response = await request('GET', path);
      return { response, next: eventReader(response) };
    },
  };
}

export const CRDS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';

/** A definition of widgets in the group example.com. */
export const WIDGETS = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

interface MapParts {
  readonly metadata?: object;
  readonly data?: object;
}

export function configMap(name: string, { metadata = {}, ...more }: MapParts = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...more };
}

export function names({ items }: Document): readonly string[] {
  return items.map(({ metadata }) => metadata.name);
}

function eventReader(response: Response): () => Promise<Event | undefined> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return async () => {
    while (!text.includes('\n')) {
      const part = await reader?.read();
      if (part === undefined || part.done) return undefined;
      text += part.value;
    }
    const end = text.indexOf('\n');
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    return JSON.parse(line) as Event;
  };
}
