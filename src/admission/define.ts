/**
 * `defineAdmission`: user-defined plugins for given kinds. The callbacks receive typed objects in the version of the
 * kind, whatever version the client uses. The result is an ordinary {@link AdmissionPlugin}.
 */
import type { DraftOf, Kind, ObjectOf } from '../kinds/kind.js';
import { type ServedKind, serveKind } from '../kinds/served-kind.js';
import { errors } from '../meta/errors.js';
import { aggregateText, type FieldError } from '../meta/field-error.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { copyJson, deepEqual } from '../util/json.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { refuseUnknownOptions } from '../util/options.js';
import { forbiddenError } from './plugins/requests.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView, Operation } from './types.js';

/** The problems of an object. Undefined or an empty list means that it is valid. */
export type Problems = readonly FieldError[] | readonly string[] | string | undefined;

type WithoutObjects = Omit<AdmissionRequest, 'object' | 'oldObject' | 'operation'>;

/** The request as a plugin sees it; the operation determines which objects are present. */
export type RequestFor<Object, On extends Operation> = WithoutObjects &
  {
    readonly [Each in On]: {
      readonly operation: Each;
      readonly object: Each extends 'DELETE' ? undefined : Object;
      readonly oldObject: Each extends 'CREATE' | 'CONNECT' ? undefined : Object;
    };
  }[On];

/** The object type of a request. A subresource may use another kind, such as Scale or Eviction. */
type ObjectAt<AnyKind extends Kind, Subresource extends string, Of extends 'draft' | 'object'> = [Subresource] extends [
  '' | 'status',
]
  ? Of extends 'draft'
    ? DraftOf<AnyKind>
    : ObjectOf<AnyKind>
  : Of extends 'draft'
    ? DraftObject
    : ApiObject;

export interface AdmissionDefinition<AnyKind extends Kind, On extends Operation, Subresource extends string> {
  /** Used in messages and metrics. */
  readonly name: string;
  /** Default: CREATE and UPDATE. */
  readonly on?: readonly On[];
  /** One kind or several; requests in every version of them are handled. */
  readonly kind: AnyKind | readonly AnyKind[];
  /** `status`, `scale`, …; default: the objects themselves. */
  readonly subresource?: Subresource | readonly Subresource[];
  /**
   * Changes the draft in place and returns nothing; a returned value is an error. Not called for DELETE. May throw a
   * StatusError.
   */
  readonly mutate?: (
    draft: ObjectAt<AnyKind, Subresource, 'draft'>,
    request: RequestFor<ObjectAt<AnyKind, Subresource, 'object'>, Exclude<On, 'DELETE'>>,
    cluster: ClusterView,
  ) => void | Promise<void>;
  /**
   * Validates the complete, frozen object. Field errors become a 422 with one cause each, strings a 403; it may throw
   * any StatusError instead.
   */
  readonly validate?: (
    request: RequestFor<ObjectAt<AnyKind, Subresource, 'object'>, On>,
    cluster: ClusterView,
  ) => Problems | Promise<Problems>;
}

/**
 * Creates a plugin. Throws a TypeError for an invalid definition.
 *
 * @example
 * const requireTeam = defineAdmission({
 *   name: 'RequireTeam',
 *   kind: Pod,
 *   validate: ({ object }) => (object.metadata.labels?.['team'] ? [] : [fieldError('required', 'metadata.labels[team]')]),
 * });
 */
export function defineAdmission<
  AnyKind extends Kind,
  On extends Operation = 'CREATE' | 'UPDATE',
  const Subresource extends string = '',
>(definition: AdmissionDefinition<AnyKind, On, Subresource>): AdmissionPlugin {
  const plan = readPlan(definition as unknown as AnyDefinition);
  const { name, mutate, validate } = plan.definition;
  return Object.freeze({
    name,
    handlesKind: (served) => kindFor(plan, served) !== undefined,
    ...(plan.operations.has('CONNECT') ? { handlesConnect: true } : {}),
    ...(mutate === undefined
      ? {}
      : { mutate: (request, view) => (handlesRequest(plan, request) ? runMutate(plan, request, view) : undefined) }),
    ...(validate === undefined
      ? {}
      : {
          validate: (request, view) => (handlesRequest(plan, request) ? runValidate(plan, request, view) : undefined),
        }),
  } satisfies AdmissionPlugin);
}

/** The definition without its type parameters. */
interface AnyDefinition {
  readonly name: string;
  readonly on?: readonly Operation[];
  readonly kind: Kind | readonly Kind[];
  readonly subresource?: string | readonly string[];
  readonly mutate?: (draft: DraftObject, request: AdmissionRequest<DraftObject>, cluster: ClusterView) => unknown;
  readonly validate?: (request: AdmissionRequest, cluster: ClusterView) => unknown;
}

interface Plan {
  readonly definition: AnyDefinition;
  readonly kinds: readonly Kind[];
  readonly operations: ReadonlySet<Operation>;
  readonly subresources: ReadonlySet<string>;
}

const OPERATIONS: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
const FIELDS = ['name', 'on', 'kind', 'subresource', 'mutate', 'validate'];

function readPlan(definition: AnyDefinition): Plan {
  const { name, on = ['CREATE', 'UPDATE'], kind, subresource = '', mutate, validate } = definition;
  if (typeof name !== 'string' || name === '') throw new TypeError('orchplane: defineAdmission needs a name');
  const where = `defineAdmission "${name}"`;
  const wrong = (why: string) => new TypeError(`orchplane: ${where}: ${why}`);
  refuseUnknownOptions(where, definition, FIELDS);
  if (mutate === undefined && validate === undefined) throw wrong('it needs mutate or validate, or both');
  if (!Array.isArray(on) || on.length === 0) throw wrong('on must be a non-empty list of operations');
  for (const operation of on) {
    if (!OPERATIONS.includes(operation))
      throw wrong(`there is no operation "${operation}"; there are ${OPERATIONS.join(', ')}`);
  }
  if (mutate !== undefined && on.every((operation) => operation === 'DELETE')) {
    throw wrong('on DELETE there is nothing to mutate; use validate');
  }
  const kinds = Array.isArray(kind) ? (kind as readonly Kind[]) : [kind as Kind];
  if (kinds.length === 0) throw wrong('it needs at least one kind');
  for (const each of kinds) {
    if (typeof each !== 'object' || typeof each?.names?.plural !== 'string') {
      throw wrong(
        `${typeof each === 'string' ? `"${each}"` : String(each)} is not a kind; a kind is a value: import { Pod } from 'orchplane/kinds'`,
      );
    }
  }
  const subresources = typeof subresource === 'string' ? [subresource] : subresource;
  for (const each of subresources) {
    const names = kinds.flatMap((one) => Object.keys({ ...one.subresources, ...one.connectSubresources }));
    if (each === '' || names.includes(each)) continue;
    const list = names.length === 0 ? 'it has none' : `there are ${[...new Set(names)].join(', ')}`;
    throw wrong(`${kinds.map((one) => one.kind).join(', ')} has no subresource "${each}"; ${list}`);
  }
  return { definition, kinds, operations: new Set(on), subresources: new Set(subresources) };
}

/** The kind of the definition that covers a served kind: the kind itself, or another version of it. */
function kindFor({ kinds }: Plan, served: ServedKind): Kind | undefined {
  return (
    kinds.find((kind) => kind === served.kind) ??
    kinds.find((kind) => serveKind(kind, served.dialect).storageKey === served.storageKey)
  );
}

function handlesRequest(
  { operations, subresources }: Plan,
  request: AdmissionRequest<DraftObject | ApiObject>,
): boolean {
  return operations.has(request.operation) && subresources.has(request.subresource);
}

/** The version that the definition expects; undefined if the request's objects are already in it. */
function versionFor(plan: Plan, { served, objectKind }: AdmissionRequest<DraftObject | ApiObject>, view: ClusterView) {
  const kind = kindFor(plan, served);
  // Other kinds of subresources exist in one version only.
  if (kind === undefined || kind === served.kind || objectKind.kind !== served.gvk.kind) return undefined;
  return view.versionsOf(served).find((other) => other.kind === kind || other.gvk.version === kind.version);
}

function runMutate(plan: Plan, request: AdmissionRequest<DraftObject>, view: ClusterView): MaybePromise<void> {
  const { object, served } = request;
  const { name, mutate } = plan.definition;
  if (object === undefined || mutate === undefined) return undefined;
  const run = (draft: DraftObject, requestInVersion: AdmissionRequest<DraftObject>): MaybePromise<void> =>
    chain(asMaybePromise(mutate(draft, requestInVersion, view)), (result) => {
      if (result === undefined) return;
      throw new TypeError(`mutate of "${name}" returned a value; it must change the draft in place and return nothing`);
    });
  const version = versionFor(plan, request, view);
  if (version === undefined || version === served) return run(object, request);
  return chain(convertObjects(request, version, view), ({ next, live }) => {
    const draft = copyJson(next) as unknown as DraftObject;
    const requestInVersion = withObjects(request, { object: draft, oldObject: live });
    return chain(run(draft, requestInVersion), () => {
      if (deepEqual(draft, next)) return undefined;
      const back = view.convert(draft as unknown as ApiObject, version, served);
      return chain(back, (converted) => replaceContent(object, converted));
    });
  });
}

function runValidate(plan: Plan, request: AdmissionRequest, view: ClusterView): MaybePromise<void> {
  const { validate } = plan.definition;
  const run = (requestInVersion: AdmissionRequest): MaybePromise<void> =>
    chain(asMaybePromise(validate?.(requestInVersion, view)), (problems) => throwProblems(problems, plan, request));
  const version = versionFor(plan, request, view);
  if (version === undefined || version === request.served) return run(request);
  return chain(convertObjects(request, version, view), ({ next, live }) =>
    run(withObjects(request, { object: next, oldObject: live })),
  );
}

/** Turns any thenable into a promise. */
function asMaybePromise(result: unknown): MaybePromise<unknown> {
  const isThenable = typeof result === 'object' && result !== null && 'then' in result;
  return isThenable ? Promise.resolve(result) : result;
}

/** Converts both objects of the request to another version. */
function convertObjects(
  { object, oldObject, served }: AdmissionRequest<DraftObject | ApiObject>,
  version: ServedKind,
  view: ClusterView,
): MaybePromise<{ readonly next: ApiObject | undefined; readonly live: ApiObject | undefined }> {
  const convert = (one: DraftObject | ApiObject | undefined): MaybePromise<ApiObject | undefined> =>
    one === undefined ? undefined : view.convert(one as ApiObject, served, version);
  return chain(convert(object), (next) => chain(convert(oldObject), (live) => ({ next, live })));
}

/** The same request with its objects in another version. */
function withObjects<AnyRequest extends AdmissionRequest<DraftObject> | AdmissionRequest>(
  request: AnyRequest,
  objects: { readonly object: unknown; readonly oldObject: unknown },
): AnyRequest {
  // Everything else comes from the request, whose methods and getters need `this` to be the request.
  return new Proxy(request, {
    get(target, key) {
      if (key === 'object') return objects.object;
      if (key === 'oldObject') return objects.oldObject;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function replaceContent(object: DraftObject, content: ApiObject): void {
  for (const key of Object.keys(object)) if (!Object.hasOwn(content, key)) delete object[key];
  Object.assign(object, copyJson(content));
}

function throwProblems(problems: unknown, { definition }: Plan, request: AdmissionRequest): void {
  if (problems === undefined) return;
  const list: readonly unknown[] = Array.isArray(problems) ? problems : [problems];
  if (list.length === 0) return;
  if (list.every(isFieldError)) {
    throw errors.invalid(request.served.groupKind, request.sentName, list as readonly FieldError[]);
  }
  if (list.every((text) => typeof text === 'string')) {
    throw forbiddenError(request, aggregateText(list));
  }
  const what = 'it must return field errors, strings or nothing';
  throw new TypeError(`validate of "${definition.name}" returned something else: ${what}`);
}

function isFieldError(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'field' in value && 'message' in value && 'type' in value;
}
