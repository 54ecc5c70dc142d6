/**
 * The implementation of `api.ts`: each verb sends one request through its endpoint or delegates to the file with its
 * loop.
 *
 * Methods are `async` around a synchronous send: where the transport is synchronous, a call costs one promise and no
 * waiting, and errors become rejections.
 */
import type { DraftOf, InputDraftOf, InputOf, Kind, ObjectOf, SubresourceOf } from '../kinds/kind.js';
import { StatusError } from '../meta/errors.js';
import type { ApiList } from '../meta/object.js';
import type { Status } from '../meta/status.js';
import { continueTokens, type RequestOptions } from '../protocol/request.js';
import { own } from '../util/json.js';
import type { ApplyInputOf, Collection, Named, ObjectApi, SubresourceApi, SubresourceKind } from './api.js';
import type { Endpoint } from './endpoint.js';
import { type ApplyPlan, explainApply } from './explain/apply-plan.js';
import { explainObject, type Ownership } from './explain/ownership.js';
import { CachingInformer, type Informer, type InformerOptions } from './informer.js';
import {
  type ApplyOptions,
  type DeleteCollectionOptions,
  type DeleteOptions,
  deleteCollectionOptions,
  deleteOptions,
  type EditOptions,
  type GetOptions,
  type ListOptions,
  listOptions,
  type PagesOptions,
  pagesOptions,
  selectOptions,
  type WaitForOptions,
  type WatchOptions,
  type WriteOptions,
  watchOptions,
} from './options.js';
import type { Patch } from './patches.js';
import {
  editObject,
  type Recipe,
  sendApply,
  sendCreate,
  sendGet,
  sendPatch,
  sendUpdate,
  withName,
} from './requests.js';
import type { UntilPresent } from './until.js';
import { type Predicate, waitFor } from './wait-for.js';
import { ClientWatch, type Watch } from './watch.js';

const PAGE_SIZE = 500;

/** The implementation of {@link Collection}. */
export class CollectionClient<AnyKind extends Kind> implements Collection<AnyKind> {
  protected readonly endpoint: Endpoint;

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
  }

  async list(options?: ListOptions): Promise<ApiList<ObjectOf<AnyKind>>> {
    return this.endpoint.send(this.endpoint.request('list', listOptions(options), options?.signal));
  }

  pages(options?: PagesOptions): AsyncIterable<ApiList<ObjectOf<AnyKind>>> {
    return pagesOf(this.endpoint, options);
  }

  items(options?: PagesOptions): AsyncIterable<ObjectOf<AnyKind>> {
    return itemsOf(this.endpoint, options);
  }

  watch(options?: WatchOptions): Watch<ObjectOf<AnyKind>> {
    return new ClientWatch(this.endpoint, this.endpoint.request('watch', watchOptions(options), options?.signal));
  }

  informer<IndexName extends string = never>(
    options?: InformerOptions<ObjectOf<AnyKind>, IndexName>,
  ): Informer<ObjectOf<AnyKind>, IndexName> {
    return new CachingInformer(this.endpoint, options ?? {});
  }
}

/** The implementation of {@link ObjectApi}. */
export class ObjectClient<AnyKind extends Kind> extends CollectionClient<AnyKind> implements ObjectApi<AnyKind> {
  #status: SubresourceApi<AnyKind> | undefined;

  async get(name: string, options?: GetOptions): Promise<ObjectOf<AnyKind>> {
    return sendGet(this.endpoint, name, options);
  }

  async find(name: string, options?: GetOptions): Promise<ObjectOf<AnyKind> | undefined> {
    try {
      return await sendGet<ObjectOf<AnyKind>>(this.endpoint, name, options);
    } catch (error) {
      // Without a name in the details, the kind was not found, which does not tell whether the object exists.
      if (StatusError.is(error, 'NotFound') && error.status.details?.name !== undefined) return undefined;
      throw error;
    }
  }

  async create(input: InputOf<AnyKind>, options?: WriteOptions): Promise<ObjectOf<AnyKind>> {
    return sendCreate(this.endpoint, input, options);
  }

  async update(input: InputOf<AnyKind> & Named, options?: WriteOptions): Promise<ObjectOf<AnyKind>> {
    return sendUpdate(this.endpoint, { input }, options);
  }

  async edit(name: string, recipe: Recipe<DraftOf<AnyKind>>, options?: EditOptions): Promise<ObjectOf<AnyKind>> {
    return editObject({ read: this.endpoint, write: this.endpoint }, { name, recipe }, options);
  }

  async patch(name: string, patch: Patch<InputDraftOf<AnyKind>>, options?: WriteOptions): Promise<ObjectOf<AnyKind>> {
    return sendPatch(this.endpoint, { name, patch }, options);
  }

  async apply(configuration: ApplyInputOf<AnyKind>, options?: ApplyOptions): Promise<ObjectOf<AnyKind>> {
    return sendApply(this.endpoint, { input: configuration }, options);
  }

  explain(name: string, options?: GetOptions): Promise<Ownership>;
  explain(configuration: ApplyInputOf<AnyKind>, options?: ApplyOptions): Promise<ApplyPlan<ObjectOf<AnyKind>>>;
  async explain(
    what: string | ApplyInputOf<AnyKind>,
    options: GetOptions & ApplyOptions = {},
  ): Promise<Ownership | ApplyPlan<ObjectOf<AnyKind>>> {
    return typeof what === 'string'
      ? explainObject(this.endpoint, what, options)
      : explainApply(this.endpoint, { input: what }, options);
  }

  async delete(name: string, options?: DeleteOptions): Promise<ObjectOf<AnyKind> | Status> {
    const { endpoint } = this;
    const request = endpoint.request('delete', deleteOptions(endpoint.config.deleteOptions, options), options?.signal);
    request.name = endpoint.checkName(name, 'delete');
    return endpoint.send(request);
  }

  async deleteCollection(options?: DeleteCollectionOptions): Promise<ApiList<ObjectOf<AnyKind>> | Status> {
    const { endpoint } = this;
    const query = deleteCollectionOptions(endpoint.config.deleteOptions, options);
    return endpoint.send(endpoint.request('deletecollection', query, options?.signal));
  }

  waitFor(name: string, condition: UntilPresent, options?: WaitForOptions): Promise<ObjectOf<AnyKind>>;
  waitFor<Found extends ObjectOf<AnyKind> | undefined>(
    name: string,
    predicate: (object: ObjectOf<AnyKind> | undefined) => object is Found,
    options?: WaitForOptions,
  ): Promise<Found>;
  waitFor(
    name: string,
    predicate: Predicate<ObjectOf<AnyKind>>,
    options?: WaitForOptions,
  ): Promise<ObjectOf<AnyKind> | undefined>;
  async waitFor(
    name: string,
    predicate: Predicate<ObjectOf<AnyKind>>,
    options: WaitForOptions = {},
  ): Promise<ObjectOf<AnyKind> | undefined> {
    return waitFor(this.endpoint, { name: this.endpoint.checkName(name, 'waitFor'), predicate, options });
  }

  subresource<Name extends SubresourceOf<AnyKind>>(name: Name): SubresourceApi<SubresourceKind<AnyKind, Name>> {
    return new SubresourceResource(this.endpoint, name);
  }

  /** Typed only where the kind declares it; at run time it throws for other kinds. */
  get status(): SubresourceApi<AnyKind> {
    this.#status ??= new SubresourceResource(this.endpoint, 'status');
    return this.#status;
  }
}

class SubresourceResource<AnyKind extends Kind> implements SubresourceApi<AnyKind> {
  readonly #endpoint: Endpoint;
  readonly #readEndpoint: Endpoint;

  constructor(object: Endpoint, name: string) {
    const { kind } = object;
    const declared = own(kind.subresources, name);
    if (declared === undefined) {
      const declaredNames = Object.keys(kind.subresources).join(', ') || 'none';
      throw new TypeError(`orchplane: ${kind.kind} has no subresource "${name}"; it has: ${declaredNames}`);
    }
    this.#endpoint = object.forSubresource(name);
    this.#readEndpoint = declared.verbs.includes('get') ? this.#endpoint : object;
  }

  async create(name: string, input: unknown, options?: WriteOptions): Promise<ObjectOf<AnyKind> | Status> {
    return sendCreate(this.#endpoint, withName(input, name), options, name);
  }

  async get(name: string, options?: GetOptions): Promise<ObjectOf<AnyKind>> {
    return sendGet(this.#endpoint, name, options);
  }

  async update(name: string, input: unknown, options?: WriteOptions): Promise<ObjectOf<AnyKind>> {
    return sendUpdate(this.#endpoint, { name, input: withName(input, name) }, options);
  }

  async edit(name: string, recipe: Recipe<DraftOf<AnyKind>>, options?: EditOptions): Promise<ObjectOf<AnyKind>> {
    return editObject({ read: this.#readEndpoint, write: this.#endpoint }, { name, recipe }, options);
  }

  async patch(name: string, patch: Patch<InputDraftOf<AnyKind>>, options?: WriteOptions): Promise<ObjectOf<AnyKind>> {
    return sendPatch(this.#endpoint, { name, patch }, options);
  }

  async apply(name: string, configuration: unknown, options?: ApplyOptions): Promise<ObjectOf<AnyKind>> {
    return sendApply(this.#endpoint, { name, input: withName(configuration, name) }, options);
  }

  async explain(
    name: string,
    configuration: unknown,
    options: ApplyOptions = {},
  ): Promise<ApplyPlan<ObjectOf<AnyKind>>> {
    return explainApply(this.#endpoint, { name, input: withName(configuration, name) }, options);
  }
}

/** Pages, each requested on demand. Ends silently on abort; throws Expired when the token is too old. */
async function* pagesOf<Object>(
  endpoint: Endpoint,
  options: PagesOptions = {},
): AsyncGenerator<ApiList<Object>, undefined> {
  const { signal, pageSize: limit = PAGE_SIZE } = options;
  const aborted = () => signal?.aborted === true;
  const nextToken = continueTokens(endpoint.kind.names.plural);
  let query: RequestOptions = { ...pagesOptions(options), limit };
  while (!aborted()) {
    let page: ApiList<Object>;
    try {
      page = await endpoint.send<ApiList<Object>>(endpoint.request('list', query, signal));
    } catch (error) {
      if (aborted()) return;
      throw error;
    }
    yield page;
    const token = nextToken(page);
    if (token === undefined) return;
    // No version here: the token contains it, and the server rejects a request with both.
    query = { ...selectOptions(options), limit, continue: token };
  }
}

async function* itemsOf<Object>(endpoint: Endpoint, options: PagesOptions = {}): AsyncGenerator<Object, undefined> {
  for await (const page of pagesOf<Object>(endpoint, options)) {
    for (const item of page.items) {
      if (options.signal?.aborted === true) return;
      yield item;
    }
  }
}
