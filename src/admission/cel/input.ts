/**
 * The values of the variables that the expressions of policies and webhooks have. Objects are looked at where they are,
 * as the JSON that clients would see.
 */
import type { Variables } from '../../cel/engine.js';
import { jsonValue } from '../../cel/index.js';
import type { AuthorizationQuestion, CelAuthorizer } from '../../cel/library/authorizer.js';
import { authorizerValue, resourceAuthorizerValue } from '../../cel/library/authorizer.js';
import type { CelValue } from '../../cel/values.js';
import { readFieldRequirements, readLabelRequirements } from '../../kinds/selector-requirements.js';
import type { GroupVersionKind, GroupVersionResource } from '../../meta/gvk.js';
import { SelectorError } from '../../meta/label-selector-text.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { AccessAttributes, AccessReader, SelectorRequirement } from '../../protocol/access.js';
import type { User } from '../../protocol/request.js';
import type { AdmissionRequest, ClusterView } from '../types.js';

type Json = Readonly<Record<string, unknown>>;

/** What a request is, for those who look at it with expressions. */
export interface ExpressionInput {
  readonly request: AdmissionRequest<DraftObject | ApiObject>;
  /** The version in which it is looked at; both objects are in it. */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly object: Json | undefined;
  readonly oldObject: Json | undefined;
  /** Absent: there are none, and `params` is null. */
  readonly params?: Json | undefined;
  readonly view: Pick<ClusterView, 'access'>;
}

/** Which variables have values beside the objects and the request. */
export interface InputOptions {
  /** Absent: `namespaceObject` is null. */
  readonly namespaceObject?: Json | undefined;
  readonly authorizer?: boolean;
}

/** Worked out as far as an expression looks at them. */
export function variablesOf(input: ExpressionInput, options: InputOptions): Variables {
  const { request, view, object, oldObject, params } = input;
  const { namespaceObject: namespace } = options;
  const values = new Map<string, CelValue | (() => CelValue)>();
  values.set('object', jsonValue(object));
  values.set('oldObject', jsonValue(oldObject));
  values.set('params', jsonValue(params));
  values.set('namespaceObject', jsonValue(namespace));
  values.set('request', () => requestValue(input));
  if (options.authorizer === true) {
    const authorizer = authorizerFor(request.user, view.access);
    values.set('authorizer', () => authorizerValue(authorizer));
    values.set('authorizer.requestResource', () => {
      const { group, resource } = request.served.gvr;
      const { subresource, namespace: inside, sentName: name } = request;
      return resourceAuthorizerValue(authorizer, { group, resource, subresource, namespace: inside, name });
    });
  }
  return values;
}

interface KnownRequest extends Pick<ExpressionInput, 'kind' | 'resource'> {
  readonly value: CelValue;
}

/** Most policies look at a request in the same version. */
const knownRequests = new WeakMap<ExpressionInput['request'], KnownRequest>();

function requestValue(input: ExpressionInput): CelValue {
  const { request, kind, resource } = input;
  let known = knownRequests.get(request);
  if (known === undefined || known.kind !== kind || known.resource !== resource) {
    known = { kind, resource, value: jsonValue(requestObject(input)) };
    knownRequests.set(request, known);
  }
  return known.value;
}

/** The request without its objects, field by field as in a review; what is empty is left out. */
function requestObject({ request, kind, resource }: ExpressionInput): Json {
  const { subresource, sentName, namespace, options } = request;
  return {
    uid: '',
    kind,
    resource,
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: request.objectKind,
    requestResource: request.served.gvr,
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(sentName === '' ? {} : { name: sentName }),
    ...(namespace === '' ? {} : { namespace }),
    operation: request.operation,
    userInfo: userInfo(request.user),
    object: null,
    oldObject: null,
    dryRun: request.dryRun,
    options: Object.keys(options).length === 0 ? null : options,
  };
}

function userInfo({ user, uid = '', groups = [], extra = {} }: User): Json {
  return {
    ...(user === '' ? {} : { username: user }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

const NAMESPACE_METADATA = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
];

const shownNamespaces = new WeakMap<ApiObject, Json>();

/** A namespace as expressions see it: without its type, and without who owns what in it. */
export function namespaceObject(namespace: ApiObject): Json {
  let shown = shownNamespaces.get(namespace);
  if (shown === undefined) {
    const { metadata, spec, status } = namespace;
    const all = metadata as unknown as Json;
    const entries = NAMESPACE_METADATA.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]]));
    shown = { metadata: Object.fromEntries(entries), spec: spec ?? {}, status: status ?? {} };
    shownNamespaces.set(namespace, shown);
  }
  return shown;
}

/** Answers for whoever sent a request, and for service accounts that an expression names. */
function authorizerFor(user: User, access: AccessReader): CelAuthorizer {
  return {
    authorize(question) {
      const { serviceAccount } = question;
      const who = serviceAccount === undefined ? user : serviceAccountUser(serviceAccount);
      const { allowed, reason, error } = access.decide(who, attributesOf(question));
      return { allowed, reason, ...(error === undefined ? {} : { error }) };
    },
  };
}

function serviceAccountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): User {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  };
}

function attributesOf(question: AuthorizationQuestion): AccessAttributes {
  const { verb } = question;
  if (question.type === 'path') return { type: 'path', verb, path: question.path };
  const { group, resource, subresource, namespace, name, fieldSelector, labelSelector } = question;
  return {
    type: 'resource',
    verb,
    group,
    version: '*',
    resource,
    subresource,
    namespace,
    name,
    ...(fieldSelector === '' ? {} : read('fieldSelector', () => readFieldRequirements(fieldSelector))),
    ...(labelSelector === '' ? {} : read('labelSelector', () => readLabelRequirements(labelSelector))),
  };
}

/** What cannot be read narrows nothing: whoever asks must be allowed without it. */
function read<Name extends string>(
  name: Name,
  requirements: () => readonly SelectorRequirement[],
): { readonly [Key in Name]?: readonly SelectorRequirement[] } {
  try {
    return { [name]: requirements() } as { readonly [Key in Name]: readonly SelectorRequirement[] };
  } catch (error) {
    if (error instanceof SelectorError) return {};
    throw error;
  }
}
