/**
 * The contract of this folder: what can be done with the objects of one kind. `client.api(kind)` gives an Api,
 * `client.all(kind)` a Collection. The code behind both is `resource.ts`.
 *
 * For every method that returns a promise: failures of the server reject with StatusError, misuse with TypeError, an
 * abort with the signal's reason; nothing is thrown synchronously. What comes back is deep-frozen and shared with the
 * server where that runs in the same process: change a copy, or use `edit`.
 */
import type { TokenRequest } from '../kinds/authentication/v1/token-request.js';
import type { Scale } from '../kinds/autoscaling/v1/scale.js';
import type { Binding } from '../kinds/core/v1/pod/binding.js';
import type { Eviction } from '../kinds/core/v1/pod/eviction.js';
import type { DraftOf, InputDraftOf, InputOf, Kind, ObjectOf } from '../kinds/kind.js';
import type { ApiList } from '../meta/object.js';
import type { Status } from '../meta/status.js';
import type { ApplyPlan } from './explain/apply-plan.js';
import type { Ownership } from './explain/ownership.js';
import type { Informer, InformerOptions } from './informer.js';
import type {
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  EditOptions,
  GetOptions,
  ListOptions,
  PagesOptions,
  WaitForOptions,
  WatchOptions,
  WriteOptions,
} from './options.js';
import type { AppliedBody, Patch } from './patches.js';
import type { Recipe } from './requests.js';
import type { UntilPresent } from './until.js';
import type { Predicate } from './wait-for.js';
import type { Watch } from './watch.js';

/** An object of the kind, as it comes back from the server. */
export type Stored<AnyKind> = ObjectOf<AnyKind>;

/** What may be sent to create an object of the kind, or to replace one. Objects that were read fit as well. */
export type Sent<AnyKind> = InputOf<AnyKind>;

/** What a manager may apply: any part of an object of the kind, under its name. */
export type Applied<AnyKind> = AppliedBody<InputDraftOf<AnyKind>> & Named;

/** The subresources that the kind declares. */
export type SubresourceOf<AnyKind> =
  AnyKind extends Kind<infer _Object, infer _Input, infer _Scope, infer Subresource> ? Subresource : never;

/** Many objects of one kind, read and followed: in one namespace or in all of them. */
export interface Collection<AnyKind extends Kind> {
  /**
   * The objects now, in the order of namespace and name.
   *
   * @example
   * const { items, metadata } = await configMaps.list({ labels: { app: 'web' } });
   */
  list(options?: ListOptions): Promise<ApiList<Stored<AnyKind>>>;

  /**
   * The objects in pages, each requested when the loop asks for it and all at the version of the first. Throws Expired
   * when the loop takes longer than the server keeps that version. An abort ends it quietly.
   *
   * @example
   * for await (const page of client.all(ConfigMap).pages({ pageSize: 100 })) console.log(page.items.length);
   */
  pages(options?: PagesOptions): AsyncIterable<ApiList<Stored<AnyKind>>>;

  /**
   * The objects one by one, read in pages.
   *
   * @example
   * for await (const settings of client.all(ConfigMap).items()) console.log(settings.metadata.name);
   */
  items(options?: PagesOptions): AsyncIterable<Stored<AnyKind>>;

  /**
   * Changes as they happen. The watch is on from this call, not from its first event.
   * Throws BadRequest for selectors that cannot be written; every other refusal is thrown by the watch itself.
   *
   * @example
   * for await (const event of configMaps.watch({ signal })) {
   *   if (event.type !== 'BOOKMARK') console.log(event.type, event.object.metadata.name);
   * }
   */
  watch(options?: WatchOptions): Watch<Stored<AnyKind>>;

  /**
   * A copy of the collection that stays up to date. Starts at once; close it when it is no longer needed.
   *
   * @example
   * await using informer = configMaps.informer({ indexes: { team: (c) => [c.metadata.labels?.['team'] ?? ''] } });
   * await informer.synced;
   * informer.by('team', 'blue');
   */
  informer<IndexName extends string = never>(
    options?: InformerOptions<Stored<AnyKind>, IndexName>,
  ): Informer<Stored<AnyKind>, IndexName>;
}

/** Single objects by name, in one namespace or of a cluster-scoped kind. */
export interface ObjectApi<AnyKind extends Kind> extends Collection<AnyKind> {
  /**
   * One object; NotFound when it does not exist.
   *
   * @example
   * const settings = await configMaps.get('settings');
   */
  get(name: string, options?: GetOptions): Promise<Stored<AnyKind>>;

  /**
   * One object, or undefined when it does not exist.
   *
   * @example
   * const colour = (await configMaps.find('settings'))?.data?.['colour'];
   */
  find(name: string, options?: GetOptions): Promise<Stored<AnyKind> | undefined>;

  /**
   * Stores a new object under its name, or under a fresh one that begins with `metadata.generateName`.
   *
   * @example
   * await configMaps.create({ metadata: { name: 'settings' }, data: { colour: 'blue' } });
   */
  create(input: Sent<AnyKind>, options?: WriteOptions): Promise<Stored<AnyKind>>;

  /**
   * Replaces an object. With a `metadata.resourceVersion` it fails with Conflict if the object has changed since.
   *
   * @example
   * const settings = await configMaps.get('settings');
   * await configMaps.update({ ...settings, data: { ...settings.data, colour: 'red' } });
   */
  update(input: Sent<AnyKind> & Named, options?: WriteOptions): Promise<Stored<AnyKind>>;

  /**
   * Reads the object, lets the recipe change it and writes it back; again, with a fresh read, whenever somebody else
   * was faster (10 attempts unless told otherwise, then Conflict). A recipe that changes nothing writes nothing.
   *
   * @example
   * await configMaps.edit('settings', (settings) => { settings.data = { colour: 'red' }; });
   */
  edit(name: string, recipe: Recipe<DraftOf<AnyKind>>, options?: EditOptions): Promise<Stored<AnyKind>>;

  /**
   * Changes part of an object.
   *
   * @example
   * await configMaps.patch('settings', mergePatch({ metadata: { labels: { tier: 'front', old: null } } }));
   */
  patch(name: string, patch: Patch<InputDraftOf<AnyKind>>, options?: WriteOptions): Promise<Stored<AnyKind>>;

  /**
   * Makes the object what the configuration says, as far as it says anything: what it names belongs to the client's
   * field manager, what that manager named before and names no longer goes, and the rest is left to others. Creates the
   * object if need be. Conflict when somebody else owns what would change, unless forced; the causes say who and what.
   *
   * @example
   * await client.with({ fieldManager: 'ci' }).api(ConfigMap).apply({ metadata: { name: 'settings' }, data: { colour: 'red' } });
   */
  apply(configuration: Applied<AnyKind>, options?: ApplyOptions): Promise<Stored<AnyKind>>;

  /**
   * Who owns which fields of an object, and since when. Prints as a table.
   *
   * @example
   * console.log(String(await configMaps.explain('settings')));
   */
  explain(name: string, options?: GetOptions): Promise<Ownership>;

  /**
   * What an apply would do, without doing it: which fields would be added, change or go, which are shared, which are in
   * conflict and with whom. Takes what `apply` takes. Prints as a list.
   *
   * @example
   * const plan = await configMaps.explain({ metadata: { name: 'settings' }, data: { colour: 'green' } }, { fieldManager: 'me' });
   * plan.fields.filter((field) => field.change === 'conflict');
   */
  explain(configuration: Applied<AnyKind>, options?: ApplyOptions): Promise<ApplyPlan<Stored<AnyKind>>>;

  /**
   * Deletes an object. The answer is the server's: a Status, or the object where it still exists for a while (it waits
   * for finalizers) or its kind is answered that way.
   *
   * @example
   * await configMaps.delete('settings', { preconditions: { uid } });
   */
  delete(name: string, options?: DeleteOptions): Promise<Stored<AnyKind> | Status>;

  /**
   * Deletes all objects that the selectors pick; all of the namespace without any. Not atomic.
   *
   * @example
   * await configMaps.deleteCollection({ labels: { app: 'web' } });
   */
  deleteCollection(options?: DeleteCollectionOptions): Promise<ApiList<Stored<AnyKind>> | Status>;

  /**
   * Waits until the predicate accepts the object: as it is now, or as it becomes. Undefined stands for an object that
   * does not exist. Rejects with Timeout when `timeoutMs` is over.
   *
   * @example
   * await configMaps.waitFor('settings', (settings) => settings?.data?.['ready'] === 'yes', { timeoutMs: 5_000 });
   */
  waitFor(name: string, condition: UntilPresent, options?: WaitForOptions): Promise<Stored<AnyKind>>;
  waitFor<Found extends Stored<AnyKind> | undefined>(
    name: string,
    predicate: (object: Stored<AnyKind> | undefined) => object is Found,
    options?: WaitForOptions,
  ): Promise<Found>;
  waitFor(
    name: string,
    predicate: Predicate<Stored<AnyKind>>,
    options?: WaitForOptions,
  ): Promise<Stored<AnyKind> | undefined>;

  /**
   * A path below the objects that the kind declares: `/finalize`, `/status`. Throws TypeError for any other.
   *
   * @example
   * await namespaces.subresource('finalize').update('old', { ...namespace, spec: { finalizers: [] } });
   */
  subresource<Name extends SubresourceOf<AnyKind>>(name: Name): SubresourceApi<SubresourceKind<AnyKind, Name>>;
}

/** Subresources that speak of something else than the object they stand below, and of what. */
export interface SubresourceKinds {
  readonly binding: typeof Binding;
  readonly eviction: typeof Eviction;
  readonly scale: typeof Scale;
  readonly token: typeof TokenRequest;
}

/** The kind of what is read and written at a subresource. */
export type SubresourceKind<AnyKind extends Kind, Name> = Name extends keyof SubresourceKinds
  ? SubresourceKinds[Name]
  : AnyKind;

/** One subresource of the objects of a kind. Which verbs it has is the kind's affair; others fail with MethodNotAllowed. */
export interface SubresourceApi<AnyKind extends Kind> {
  /**
   * Has something done with the object: evicts it, binds it, issues a token for it.
   *
   * @example
   * await pods.subresource('eviction').create('web', {});
   */
  create(name: string, input: Asked<AnyKind>, options?: WriteOptions): Promise<Stored<AnyKind> | Status>;
  get(name: string, options?: GetOptions): Promise<Stored<AnyKind>>;
  /** The name counts as the object's own, if that carries none. */
  update(name: string, input: Asked<AnyKind>, options?: WriteOptions): Promise<Stored<AnyKind>>;
  /**
   * As the object's own `edit`, written to this path. Reads the object itself where the subresource cannot be read.
   *
   * @example
   * await quotas.status.edit('team', (quota) => { quota.status = { used: { pods: '3' } }; });
   */
  edit(name: string, recipe: Recipe<DraftOf<AnyKind>>, options?: EditOptions): Promise<Stored<AnyKind>>;
  patch(name: string, patch: Patch<InputDraftOf<AnyKind>>, options?: WriteOptions): Promise<Stored<AnyKind>>;
  /**
   * As the object's own `apply`, for the part that this path is about. It creates nothing.
   *
   * @example
   * await quotas.status.apply('team', { status: { used: { pods: '3' } } }, { fieldManager: 'counter' });
   */
  apply(
    name: string,
    configuration: AppliedBody<InputDraftOf<AnyKind>>,
    options?: ApplyOptions,
  ): Promise<Stored<AnyKind>>;
  /**
   * What an apply to this path would do, without doing it.
   *
   * @example
   * String(await quotas.status.explain('team', { status: { used: { pods: '3' } } }, { fieldManager: 'counter' }));
   */
  explain(
    name: string,
    configuration: AppliedBody<InputDraftOf<AnyKind>>,
    options?: ApplyOptions,
  ): Promise<ApplyPlan<Stored<AnyKind>>>;
}

/** What is asked for need not name the object: the address does. */
type Asked<AnyKind> = Omit<Sent<AnyKind>, 'metadata'> &
  Partial<Pick<Sent<AnyKind> & { readonly metadata: unknown }, 'metadata'>>;

/** Everything that can be done with the objects of a kind. `status` exists where the kind declares it. */
export type Api<AnyKind extends Kind> = ObjectApi<AnyKind> & StatusPart<AnyKind>;

type StatusPart<AnyKind extends Kind> =
  'status' extends SubresourceOf<AnyKind> ? { readonly status: SubresourceApi<AnyKind> } : unknown;

/** An update is addressed by the name that the object carries. */
export interface Named {
  readonly metadata: { readonly name: string };
}
