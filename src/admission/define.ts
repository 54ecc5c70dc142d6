/**
 * Plugins of users, by the kind that they are about: objects come under the type of the kind, and in its version, whatever
 * version a client speaks. What it makes is an ordinary {@link AdmissionPlugin}.
 */
import type { DraftOf, Kind, ObjectOf } from '../kinds/kind.js';
import { type ServedKind, serveKind } from '../kinds/served-kind.js';
import { errors } from '../meta/errors.js';
import type { FieldError } from '../meta/field-error.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { copyJson, deepEqual } from '../util/json.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { refuseUnknownOptions } from '../util/options.js';
import { refuse } from './plugins/requests.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView, Operation } from './types.js';

/** What may be wrong with an object. Nothing, or an empty list: nothing. */
export type Problems = readonly FieldError[] | readonly string[] | string | undefined;

type WithoutObjects = Omit<AdmissionRequest, 'object' | 'oldObject' | 'operation'>;

/** The request as a plugin for some operations sees it: which objects there are follows from the operation. */
export type RequestFor<Object, On extends Operation> = WithoutObjects &
  {
    readonly [Each in On]: {
      readonly operation: Each;
      readonly object: Each extends 'DELETE' ? undefined : Object;
      readonly oldObject: Each extends 'CREATE' | 'CONNECT' ? undefined : Object;
    };
  }[On];

/** Below an object, the object of a request may be of another kind: a Scale, an Eviction. */
type Shown<AnyKind, Subresource extends string, Of extends 'draft' | 'object'> = [Subresource] extends ['' | 'status']
  ? Of extends 'draft'
    ? DraftOf<AnyKind>
    : ObjectOf<AnyKind>
  : Of extends 'draft'
    ? DraftObject
    : ApiObject;

export interface AdmissionDefinition<AnyKind, On extends Operation, Subresource extends string> {
  /** As it stands in messages and metrics. */
  readonly name: string;
  /** CREATE and UPDATE unless said otherwise. */
  readonly on?: readonly On[];
  /** One kind or several, in all their versions. */
  readonly kind: AnyKind | readonly AnyKind[];
  /** `status`, `scale`, …; the objects themselves unless said otherwise. */
  readonly subresource?: Subresource | readonly Subresource[];
  /**
   * Changes the draft in place; whatever it returns is a mistake. Not asked about DELETE. May throw a StatusError.
   */
  readonly mutate?: (
    draft: Shown<AnyKind, Subresource, 'draft'>,
    request: RequestFor<Shown<AnyKind, Subresource, 'object'>, Exclude<On, 'DELETE'>>,
    cluster: ClusterView,
  ) => void | Promise<void>;
  /**
   * Looks at the finished object, which is frozen. Field errors become a 422 with a cause for each, texts a 403; it may
   * throw any StatusError instead.
   */
  readonly validate?: (
    request: RequestFor<Shown<AnyKind, Subresource, 'object'>, On>,
    cluster: ClusterView,
  ) => Problems | Promise<Problems>;
}

/**
 * Makes a plugin. Throws TypeError for a definition that cannot be meant.
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
    looksAt: (served) => kindFor(plan, served) !== undefined,
    ...(plan.operations.has('CONNECT') ? { connects: true } : {}),
    ...(mutate === undefined
      ? {}
      : { mutate: (request, view) => (isAsked(plan, request) ? runMutate(plan, request, view) : undefined) }),
    ...(validate === undefined
      ? {}
      : { validate: (request, view) => (isAsked(plan, request) ? runValidate(plan, request, view) : undefined) }),
  } satisfies AdmissionPlugin);
}

/** The definition without its types. */
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
  if (!Array.isArray(on) || on.length === 0) throw wrong('on is a list of operations');
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
        `${typeof each === 'string' ? `"${each}"` : String(each)} is no kind; a kind is a value: import { Pod } from 'orchplane/kinds'`,
      );
    }
  }
  const subresources = typeof subresource === 'string' ? [subresource] : subresource;
  for (const each of subresources) {
    const known = kinds.flatMap((one) => Object.keys({ ...one.subresources, ...one.connectSubresources }));
    if (each === '' || known.includes(each)) continue;
    const list = known.length === 0 ? 'it has none' : `there are ${[...new Set(known)].join(', ')}`;
    throw wrong(`${kinds.map((one) => one.kind).join(', ')} has no subresource "${each}"; ${list}`);
  }
  return { definition, kinds, operations: new Set(on), subresources: new Set(subresources) };
}

/** The kind of the definition under which a served kind is looked at: itself, or another version of the same objects. */
function kindFor({ kinds }: Plan, served: ServedKind): Kind | undefined {
  return (
    kinds.find((kind) => kind === served.kind) ??
    kinds.find((kind) => serveKind(kind, served.dialect).storage === served.storage)
  );
}

function isAsked({ operations, subresources }: Plan, request: AdmissionRequest<DraftObject | ApiObject>): boolean {
  return operations.has(request.operation) && subresources.has(request.subresource);
}

/** The version in which the definition wants the objects of a request; none if that is the version they are in. */
function versionFor(plan: Plan, { served, objectKind }: AdmissionRequest<DraftObject | ApiObject>, view: ClusterView) {
  const kind = kindFor(plan, served);
  // Below objects there are other kinds, of which there is one version.
  if (kind === undefined || kind === served.kind || objectKind.kind !== served.gvk.kind) return undefined;
  return view.versionsOf(served).find((other) => other.kind === kind || other.gvk.version === kind.version);
}

function runMutate(plan: Plan, request: AdmissionRequest<DraftObject>, view: ClusterView): MaybePromise<void> {
  const { object, served } = request;
  const { name, mutate } = plan.definition;
  if (object === undefined || mutate === undefined) return undefined;
  const run = (draft: DraftObject, shown: AdmissionRequest<DraftObject>): MaybePromise<void> =>
    chain(waitedFor(mutate(draft, shown, view)), (result) => {
      if (result === undefined) return;
      throw new TypeError(`mutate of "${name}" returned a value; it changes the draft in place and returns nothing`);
    });
  const version = versionFor(plan, request, view);
  if (version === undefined || version === served) return run(object, request);
  return chain(inVersion(request, version, view), ({ next, live }) => {
    const draft = copyJson(next) as unknown as DraftObject;
    const shown = showing(request, { object: draft, oldObject: live });
    return chain(run(draft, shown), () => {
      if (deepEqual(draft, next)) return undefined;
      const back = view.convert(draft as unknown as ApiObject, version, served);
      return chain(back, (converted) => replaceContent(object, converted));
    });
  });
}

function runValidate(plan: Plan, request: AdmissionRequest, view: ClusterView): MaybePromise<void> {
  const { validate } = plan.definition;
  const run = (shown: AdmissionRequest): MaybePromise<void> =>
    chain(waitedFor(validate?.(shown, view)), (problems) => judge(problems, plan, request));
  const version = versionFor(plan, request, view);
  if (version === undefined || version === request.served) return run(request);
  return chain(inVersion(request, version, view), ({ next, live }) =>
    run(showing(request, { object: next, oldObject: live })),
  );
}

/** Anything that can be waited for is a promise from here on, whoever made it. */
function waitedFor(result: unknown): MaybePromise<unknown> {
  const isThenable = typeof result === 'object' && result !== null && 'then' in result;
  return isThenable ? Promise.resolve(result) : result;
}

/** Both objects in another version. */
function inVersion(
  { object, oldObject, served }: AdmissionRequest<DraftObject | ApiObject>,
  version: ServedKind,
  view: ClusterView,
): MaybePromise<{ readonly next: ApiObject | undefined; readonly live: ApiObject | undefined }> {
  const convert = (one: DraftObject | ApiObject | undefined): MaybePromise<ApiObject | undefined> =>
    one === undefined ? undefined : view.convert(one as ApiObject, served, version);
  return chain(convert(object), (next) => chain(convert(oldObject), (live) => ({ next, live })));
}

/** The same request about the same objects in another form. */
function showing<Shows extends AdmissionRequest<DraftObject> | AdmissionRequest>(
  request: Shows,
  objects: { readonly object: unknown; readonly oldObject: unknown },
): Shows {
  // What is not said here is looked up in the request itself, which has methods and computes what is asked for.
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

function judge(problems: unknown, { definition }: Plan, request: AdmissionRequest): void {
  if (problems === undefined) return;
  const list: readonly unknown[] = Array.isArray(problems) ? problems : [problems];
  if (list.length === 0) return;
  if (list.every(isFieldError)) {
    throw errors.invalid(request.served.groupKind, request.sentName, list as readonly FieldError[]);
  }
  if (list.every((text) => typeof text === 'string')) {
    const texts = [...new Set(list)];
    throw refuse(request, texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`);
  }
  const what = 'it returns field errors, or texts, or nothing';
  throw new TypeError(`validate of "${definition.name}" returned something else: ${what}`);
}

function isFieldError(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'field' in value && 'message' in value && 'type' in value;
}
