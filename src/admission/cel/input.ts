/**
 * The CEL variables of policies and match conditions: object, oldObject, params, namespaceObject, request, authorizer.
 * Objects are wrapped without copying, as the JSON that clients see.
 */
import {
  type AuthorizationCheck,
  authorizerValue,
  type CelAuthorizer,
  type CelValue,
  jsonValue,
  resourceAuthorizerValue,
  type Variables,
} from '../../cel/index.js';
import { readFieldRequirements, readLabelRequirements } from '../../kinds/selector-requirements.js';
import type { GroupVersionKind, GroupVersionResource } from '../../meta/gvk.js';
import { SelectorError } from '../../meta/label-selector-text.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { AccessAttributes, ClusterAuthorizer, SelectorRequirement } from '../../protocol/access.js';
import type { User } from '../../protocol/request.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { AdmissionRequest, ClusterView } from '../types.js';
import { requestInReview } from '../webhook/review.js';

type Json = Readonly<Record<string, unknown>>;

/** The request and objects that expressions can read. */
export interface ExpressionInput {
  readonly request: AdmissionRequest<DraftObject | ApiObject>;
  /** The matched version; both objects are in it. */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly object: Json | undefined;
  readonly oldObject: Json | undefined;
  /** Absent: `params` is null. */
  readonly params?: Json | undefined;
  readonly view: Pick<ClusterView, 'access'>;
}

/** The optional variables. */
export interface InputOptions {
  /** Absent: `namespaceObject` is null. */
  readonly namespaceObject?: Json | undefined;
  readonly authorizer?: boolean;
}

/** Values are computed when an expression first reads them. */
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

interface CachedRequest extends Pick<ExpressionInput, 'kind' | 'resource'> {
  readonly value: CelValue;
}

/** One entry per request: most policies match a request in the same version. */
const cachedRequests = new WeakMap<ExpressionInput['request'], CachedRequest>();

function requestValue(input: ExpressionInput): CelValue {
  const { request, kind, resource } = input;
  let cached = cachedRequests.get(request);
  if (cached === undefined || cached.kind !== kind || cached.resource !== resource) {
    cached = { kind, resource, value: jsonValue(requestInReview(request, { kind, resource })) };
    cachedRequests.set(request, cached);
  }
  return cached.value;
}

const namespaceObjects = new WeakMap<ApiObject, Json>();

/** The namespace as expressions see it: without its type, owner references and managed fields. */
export function namespaceObject(namespace: ApiObject): Json {
  return getOrInsertComputed(namespaceObjects, namespace, ({ metadata, spec, status }) => {
    const all: ApiObject['metadata'] & { readonly selfLink?: string } = metadata;
    const { selfLink: _link, ownerReferences: _owners, managedFields: _managers, ...shown } = all;
    return { metadata: shown, spec: spec ?? {}, status: status ?? {} };
  });
}

/** Authorizes the requester, or a service account that the expression names. */
function authorizerFor(user: User, access: ClusterAuthorizer): CelAuthorizer {
  return {
    authorize(question) {
      const { serviceAccount } = question;
      const subject = serviceAccount === undefined ? user : serviceAccountUser(serviceAccount);
      const { allowed, reason, error } = access.decide(subject, attributesOf(question));
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

function attributesOf(question: AuthorizationCheck): AccessAttributes {
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
    ...(fieldSelector === '' ? {} : readSelector('fieldSelector', () => readFieldRequirements(fieldSelector))),
    ...(labelSelector === '' ? {} : readSelector('labelSelector', () => readLabelRequirements(labelSelector))),
  };
}

/** An invalid selector is dropped, so the user must be allowed without it. */
function readSelector<Name extends string>(
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
