/** The service as the specification describes it: a cluster in dialect orch, over HTTP, with untyped bodies. */
import type { ClusterOptions } from 'orchplane';
import type { FetchHandlerOptions } from 'orchplane/http';
import { EVERYTHING, open } from './http.js';

/** Group and version, resource, and whether the kind is namespaced. */
const KINDS = {
  APIService: ['apiregistration.orch.io/v1', 'apiservices', false],
  CSIDriver: ['storage.orch.io/v1', 'csidrivers', false],
  CSINode: ['storage.orch.io/v1', 'csinodes', false],
  CSIStorageCapacity: ['storage.orch.io/v1', 'csistoragecapacities', true],
  ClusterRole: ['rbac.authorization.orch.io/v1', 'clusterroles', false],
  ClusterRoleBinding: ['rbac.authorization.orch.io/v1', 'clusterrolebindings', false],
  ClusterTrustBundle: ['certificates.orch.io/v1alpha1', 'clustertrustbundles', false],
  ComponentStatus: ['v1', 'componentstatuses', false],
  ConfigMap: ['v1', 'configmaps', true],
  ControllerRevision: ['apps/v1', 'controllerrevisions', true],
  CronJob: ['batch/v1', 'cronjobs', true],
  CustomResourceDefinition: ['apiextensions.orch.io/v1', 'customresourcedefinitions', false],
  DeviceClass: ['resource.orch.io/v1beta1', 'deviceclasses', false],
  Endpoints: ['v1', 'endpoints', true],
  Event: ['events.orch.io/v1', 'events', true],
  FlowSchema: ['flowcontrol.apiserver.orch.io/v1', 'flowschemas', false],
  IPAddress: ['networking.orch.io/v1beta1', 'ipaddresses', false],
  LimitRange: ['v1', 'limitranges', true],
  Namespace: ['v1', 'namespaces', false],
  Pod: ['v1', 'pods', true],
  PriorityClass: ['scheduling.orch.io/v1', 'priorityclasses', false],
  ResourceQuota: ['v1', 'resourcequotas', true],
  Role: ['rbac.authorization.orch.io/v1', 'roles', true],
  Secret: ['v1', 'secrets', true],
  StorageVersionMigration: ['storagemigration.orch.io/v1alpha1', 'storageversionmigrations', false],
  ValidatingAdmissionPolicy: ['admissionregistration.orch.io/v1', 'validatingadmissionpolicies', false],
  ValidatingAdmissionPolicyBinding: ['admissionregistration.orch.io/v1', 'validatingadmissionpolicybindings', false],
} as const;

export type KindName = keyof typeof KINDS;

// biome-ignore lint/suspicious/noExplicitAny: bodies are untyped documents.
export type Json = any;

export interface Reply {
  readonly code: number;
  readonly body: Json;
  readonly headers: Headers;
  /** `field: reason` of every cause, without the prefix FieldValue. */
  readonly causes: readonly string[];
}

/** The path of a collection, or of an object in it and a subresource. */
export function pathOf(kind: KindName, ...below: readonly string[]): string {
  const [groupVersion, resource, isNamespaced] = KINDS[kind];
  const root = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
  return [root, ...(isNamespaced ? ['namespaces/default'] : []), resource, ...below].join('/');
}

export function openService(options: ClusterOptions = {}, handlerOptions: FetchHandlerOptions = {}) {
  const { cluster, clock, ...http } = open({ ...EVERYTHING, ...options }, handlerOptions);
  const send = async (method: string, path: string, body?: Json, headers: Record<string, string> = {}) => {
    const reply = await http.send(method, path, { body, headers, as: '' });
    const document: Json = reply.body;
    const causes = (document.details?.causes ?? []) as { field: string; reason?: string }[];
    return {
      ...reply,
      body: document,
      causes: causes.map(({ field, reason }) => `${field}: ${reason?.replace('FieldValue', '')}`),
    } satisfies Reply;
  };
  const patch = (type: string) => (kind: KindName, at: string, body: Json) =>
    send('PATCH', pathOf(kind, at), body, { 'content-type': type });
  return {
    cluster,
    clock,
    send,
    /** Creates an object named `a` unless the body has a name. */
    create: (kind: KindName, { metadata, ...body }: Json) =>
      send('POST', pathOf(kind), { apiVersion: KINDS[kind][0], kind, metadata: { name: 'a', ...metadata }, ...body }),
    get: (kind: KindName, at: string) => send('GET', pathOf(kind, at)),
    list: (kind: KindName, query = '') => send('GET', pathOf(kind) + query),
    update: (kind: KindName, at: string, body: Json) => send('PUT', pathOf(kind, at), body),
    merge: patch('application/merge-patch+json'),
    remove: (kind: KindName, at: string) => send('DELETE', pathOf(kind, at)),
    /** Applies as a field manager. */
    apply: (kind: KindName, at: string, { metadata, ...body }: Json, manager: string) =>
      send(
        'PATCH',
        `${pathOf(kind, at)}?fieldManager=${manager}`,
        { apiVersion: KINDS[kind][0], kind, metadata: { name: at.split('/')[0], ...metadata }, ...body },
        { 'content-type': 'application/apply-patch+yaml' },
      ),
    /** The published schema of a type in a kind's group version. */
    schema: async (kind: KindName, type: string): Promise<Json> => {
      const [groupVersion] = KINDS[kind];
      const { body } = await send('GET', `/openapi/v3/${groupVersion === 'v1' ? 'api' : 'apis'}/${groupVersion}`);
      const { schemas } = body.components;
      const names = Object.keys(schemas).filter((name) => name.endsWith(`.${type}`));
      if (names.length !== 1) throw new Error(`${names.length} published types are named ${type}`);
      return schemas[names[0] as string];
    },
  };
}

export type Service = ReturnType<typeof openService>;

/**
 * The fields of a published type: `string!` is a required string, `[]string set` a list of unique strings, `[]Condition
 * map type` a list whose items are merged by their type.
 */
export async function fieldsOf(service: Service, kind: KindName, type: string): Promise<Record<string, string>> {
  const { properties = {}, required = [] } = await service.schema(kind, type);
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      describeField(schema as Json) + (required.includes(name) ? '!' : ''),
    ]),
  );
}

function describeField(schema: Json): string {
  const kept = (name: string) => schema[`x-orch-${name}`];
  const reference: string | undefined = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) return reference.slice(reference.lastIndexOf('.') + 1);
  if (schema.type === 'array') {
    const keys = (kept('list-map-keys') ?? []).join();
    return `[]${describeField(schema.items)} ${kept('list-type') ?? 'unmarked'}${keys === '' ? '' : ` ${keys}`}`;
  }
  if (schema.additionalProperties !== undefined) return `map[${describeField(schema.additionalProperties)}]`;
  const listType = kept('list-type') === undefined ? '' : ` ${kept('list-type')}`;
  return (schema.format ?? schema.type ?? 'any') + listType;
}
