/**
 * The contract of this folder: the operations on objects of one kind. `client.api(kind)` returns an Api,
 * `client.all(kind)` a Collection. `resource.ts` implements both.
 *
 * Methods that return a promise never throw synchronously: server errors reject with StatusError, misuse with
 * TypeError, an abort with the signal's reason. Results are deeply frozen and, in process, shared with the server:
 * change a copy, or use `edit`.
 */
import type { TokenRequest } from '../kinds/authentication/v1/token-request.js';
import type { Scale } from '../kinds/autoscaling/v1/scale.js';
import type { Binding } from '../kinds/core/v1/pod/binding.js';
import type { Eviction } from '../kinds/core/v1/pod/eviction.js';
import type { DraftOf, InputDraftOf, InputOf, Kind, ObjectOf, SubresourceOf } from '../kinds/kind.js';
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

/** The input of `apply`: any part of an object of the kind, with its name. */
export type ApplyInputOf<AnyKind extends Kind> = AppliedBody<InputDraftOf<AnyKind>> & Named;

/** Many objects of one kind, in one namespace or in all, for reading and watching. */
export interface Collection<AnyKind extends Kind> {
  /**
   * The current objects, ordered by namespace and name.
   *
   * @example
   * const { items, metadata } = await configMaps.list({ labels: { app: 'web' } });
   */
  list(options?: ListOptions): Promise<ApiList<ObjectOf<AnyKind>>>;

  /**
   * The objects in pages, each requested on demand and all at the version of the first. Throws Expired when the loop
   * takes longer than the server keeps that version. An abort ends the loop silently.
   *
   * @example
   * for await (const page of client.all(ConfigMap).pages({ pageSize: 100 })) console.log(page.items.length);
   */
  pages(options?: PagesOptions): AsyncIterable<ApiList<ObjectOf<AnyKind>>>;

  /**
   * The objects one by one, read in pages.
   *
   * @example
   * for await (const settings of client.all(ConfigMap).items()) console.log(settings.metadata.name);
   */
  items(options?: PagesOptions): AsyncIterable<ObjectOf<AnyKind>>;

  /**
   * Changes as they happen. The watch is active from this call on, not from its first event. Throws BadRequest for
   * invalid selectors; every other error is thrown by the watch itself.
   *
   * @example
   * for await (const event of configMaps.watch({ signal })) {
   *   if (event.type !== 'BOOKMARK') console.log(event.type, event.object.metadata.name);
   * }
   */
  watch(options?: WatchOptions): Watch<ObjectOf<AnyKind>>;

  /**
   * A local copy of the collection that stays up to date. It starts at once; close it when it is no longer needed.
   *
   * @example
   * await using informer = configMaps.informer({ indexes: { team: (c) => [c.metadata.labels?.['team'] ?? ''] } });
   * await informer.synced;
   * informer.by('team', 'blue');
   */
  informer<IndexName extends string = never>(
    options?: InformerOptions<ObjectOf<AnyKind>, IndexName>,
  ): Informer<ObjectOf<AnyKind>, IndexName>;
}

/** Single objects by name, in one namespace or of a cluster-scoped kind. */
export interface ObjectApi<AnyKind extends Kind> extends Collection<AnyKind> {
  /**
   * One object; rejects with NotFound when it does not exist.
   *
   * @example
   * const settings = await configMaps.get('settings');
   */
  get(name: string, options?: GetOptions): Promise<ObjectOf<AnyKind>>;

  /**
   * One object, or undefined when it does not exist.
   *
   * @example
   * const colour = (await configMaps.find('settings'))?.data?.['colour'];
   */
  find(name: string, options?: GetOptions): Promise<ObjectOf<AnyKind> | undefined>;

  /**
   * Creates an object under its name, or under a generated one that begins with `metadata.generateName`.
   *
   * @example
   * await configMaps.create({ metadata: { name: 'settings' }, data: { colour: 'blue' } });
   */
  create(input: InputOf<AnyKind>, options?: WriteOptions): Promise<ObjectOf<AnyKind>>;

  /**
   * Replaces an object. With a `metadata.resourceVersion`, rejects with Conflict if the object has changed since. An object
   * that does not exist is created if the input has neither a resourceVersion nor a uid; in the dialect `kubernetes` only
   * some kinds do that, and all others reject with NotFound.
   *
   * @example
   * const settings = await configMaps.get('settings');
   * await configMaps.update({ ...settings, data: { ...settings.data, colour: 'red' } });
   */
  update(input: InputOf<AnyKind> & Named, options?: WriteOptions): Promise<ObjectOf<AnyKind>>;

  /**
   * Reads the object, lets the recipe change it and writes it back; repeats this on a conflict with another client (10
   * attempts by default, then Conflict). A recipe that changes nothing writes nothing.
   *
   * @example
   * await configMaps.edit('settings', (settings) => { settings.data = { colour: 'red' }; });
   */
  edit(name: string, recipe: Recipe<DraftOf<AnyKind>>, options?: EditOptions): Promise<ObjectOf<AnyKind>>;

  /**
   * Changes part of an object.
   *
   * @example
   * await configMaps.patch('settings', mergePatch({ metadata: { labels: { tier: 'front', old: null } } }));
   */
  patch(name: string, patch: Patch<InputDraftOf<AnyKind>>, options?: WriteOptions): Promise<ObjectOf<AnyKind>>;

  /**
   * Server-side apply: the client's field manager owns the fields of the configuration; fields that it applied before
   * and no longer names are removed, and all others are left unchanged. Creates the object if necessary. Rejects with
   * Conflict when another manager owns a field that would change, unless forced; the causes name the managers and
   * fields.
   *
   * @example
   * await client.with({ fieldManager: 'ci' }).api(ConfigMap).apply({ metadata: { name: 'settings' }, data: { colour: 'red' } });
   */
  apply(configuration: ApplyInputOf<AnyKind>, options?: ApplyOptions): Promise<ObjectOf<AnyKind>>;

  /**
   * The owner of each field of an object, and since when. Prints as a table.
   *
   * @example
   * console.log(String(await configMaps.explain('settings')));
   */
  explain(name: string, options?: GetOptions): Promise<Ownership>;

  /**
   * What an apply would do, computed with a dry run: which fields would be added, changed or removed, which are shared,
   * and which conflict with whom. Takes the same input as `apply`. Prints as a list.
   *
   * @example
   * const plan = await configMaps.explain({ metadata: { name: 'settings' }, data: { colour: 'green' } }, { fieldManager: 'me' });
   * plan.fields.filter((field) => field.change === 'conflict');
   */
  explain(configuration: ApplyInputOf<AnyKind>, options?: ApplyOptions): Promise<ApplyPlan<ObjectOf<AnyKind>>>;

  /**
   * Deletes an object. Resolves with the server's response: the object if its kind responds that way (as Pod and Service
   * do), otherwise a Status. In the dialect `kubernetes` it is also the object while that waits for finalizers.
   *
   * @example
   * await configMaps.delete('settings', { preconditions: { uid } });
   */
  delete(name: string, options?: DeleteOptions): Promise<ObjectOf<AnyKind> | Status>;

  /**
   * Deletes all objects that match the selectors; without selectors, all in the namespace. Not atomic. Resolves with a
   * Status; in the dialect `kubernetes` with the list of the objects, as they were before.
   *
   * @example
   * await configMaps.deleteCollection({ labels: { app: 'web' } });
   */
  deleteCollection(options?: DeleteCollectionOptions): Promise<ApiList<ObjectOf<AnyKind>> | Status>;

  /**
   * Waits until the object satisfies the predicate, now or after a change. The predicate gets undefined when the object
   * does not exist. Rejects with Timeout after `timeoutMs`.
   *
   * @example
   * await configMaps.waitFor('settings', (settings) => settings?.data?.['ready'] === 'yes', { timeoutMs: 5_000 });
   */
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

  /**
   * A subresource that the kind declares, such as `finalize` or `status`. Throws TypeError for any other.
   *
   * @example
   * await namespaces.subresource('finalize').update('old', { ...namespace, spec: { finalizers: [] } });
   */
  subresource<Name extends SubresourceOf<AnyKind>>(name: Name): SubresourceApi<SubresourceKind<AnyKind, Name>>;
}

/** Subresources with a kind of their own. */
export interface SubresourceKinds {
  readonly binding: typeof Binding;
  readonly eviction: typeof Eviction;
  readonly scale: typeof Scale;
  readonly token: typeof TokenRequest;
}

/** The kind of the objects that a subresource reads and writes. */
export type SubresourceKind<AnyKind extends Kind, Name> = Name extends keyof SubresourceKinds
  ? SubresourceKinds[Name]
  : AnyKind;

/** One subresource of the objects of a kind. Its verbs depend on the kind; others fail with MethodNotAllowed. */
export interface SubresourceApi<AnyKind extends Kind> {
  /**
   * Performs an action on the object: evicts it, binds it, issues a token for it.
   *
   * @example
   * await pods.subresource('eviction').create('web', {});
   */
  create(name: string, input: SubresourceInputOf<AnyKind>, options?: WriteOptions): Promise<ObjectOf<AnyKind> | Status>;
  get(name: string, options?: GetOptions): Promise<ObjectOf<AnyKind>>;
  /** The name is added to the object if it has none. */
  update(name: string, input: SubresourceInputOf<AnyKind>, options?: WriteOptions): Promise<ObjectOf<AnyKind>>;
  /**
   * Like `edit` of the object, written to the subresource. Reads the object itself if the subresource cannot be read.
   *
   * @example
   * await quotas.status.edit('team', (quota) => { quota.status = { used: { pods: '3' } }; });
   */
  edit(name: string, recipe: Recipe<DraftOf<AnyKind>>, options?: EditOptions): Promise<ObjectOf<AnyKind>>;
  patch(name: string, patch: Patch<InputDraftOf<AnyKind>>, options?: WriteOptions): Promise<ObjectOf<AnyKind>>;
  /**
   * Like `apply` of the object, for the fields of this subresource. It creates nothing.
   *
   * @example
   * await quotas.status.apply('team', { status: { used: { pods: '3' } } }, { fieldManager: 'counter' });
   */
  apply(
    name: string,
    configuration: AppliedBody<InputDraftOf<AnyKind>>,
    options?: ApplyOptions,
  ): Promise<ObjectOf<AnyKind>>;
  /**
   * What an apply to this subresource would do, computed with a dry run.
   *
   * @example
   * String(await quotas.status.explain('team', { status: { used: { pods: '3' } } }, { fieldManager: 'counter' }));
   */
  explain(
    name: string,
    configuration: AppliedBody<InputDraftOf<AnyKind>>,
    options?: ApplyOptions,
  ): Promise<ApplyPlan<ObjectOf<AnyKind>>>;
}

/** The input of a subresource; the name is optional because the URL contains it. */
type SubresourceInputOf<AnyKind extends Kind> = Omit<InputOf<AnyKind>, 'metadata'> &
  Partial<Pick<InputOf<AnyKind> & { readonly metadata: unknown }, 'metadata'>>;

/** All operations on the objects of a kind. `status` exists where the kind declares it. */
export type Api<AnyKind extends Kind> = ObjectApi<AnyKind> & StatusPart<AnyKind>;

type StatusPart<AnyKind extends Kind> =
  'status' extends SubresourceOf<AnyKind> ? { readonly status: SubresourceApi<AnyKind> } : unknown;

/** An object with a name, by which an update addresses it. */
export interface Named {
  readonly metadata: { readonly name: string };
}
