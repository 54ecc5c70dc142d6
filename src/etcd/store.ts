/**
 * A store whose objects are in etcd. Each process keeps all of them in memory, fed by one watch, so reads cost no request
 * beyond the one that makes them current. Writes are transactions that compare the last change of every key.
 *
 * - `resourceVersion` is the revision of etcd.
 * - A write is acknowledged when this process has received its event, so clients read their writes.
 * - A transaction whose outcome is unknown is never repeated.
 */
import type { Dialect } from '../meta/dialect.js';
import { errors } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import { withResourceVersion } from '../server/versions.js';
import type { PlacedObject } from '../storage/state.js';
import { Store, type StoreOptions } from '../storage/store.js';
import {
  keyText,
  type ListPage,
  type ListQuery,
  type ObjectKey,
  type ObjectRange,
  requireExpected,
  type SharedAccess,
  StorageError,
  type Write,
} from '../storage/types.js';
import { systemClock } from '../util/clock.js';
import { invariant } from '../util/invariant.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { type Change, isService, leasesOf, lostRace, nodePortsOf } from './change.js';
import type { EtcdClient } from './client.js';
import { startCompaction } from './compactor.js';
import { EtcdError, isConnectionFailure, isLostLease, toStatus } from './etcd-error.js';
import { EtcdFeed, type FeedTarget, type KeyRange } from './feed.js';
import type { EtcdHealth } from './health.js';
import { KeyTurns } from './key-turns.js';
import { type KeyValue, type RequestOp, type TxnRequest, toNumber } from './messages.js';
import { NodePortRange, type RangeChange } from './node-port-range.js';
import type { ServerLeases } from './server-leases.js';
import { UnreadableValues } from './unreadable-values.js';

/** How objects are written to etcd. */
export interface StoredForm {
  /** The keys of all objects. */
  readonly range: KeyRange & { readonly barrierKey: Uint8Array };
  /** The key of the allocated node ports. */
  readonly rangeKey: Uint8Array;
  readonly dialect: Dialect;
  keyOf(key: ObjectKey): Uint8Array;
  /** The address of an object; undefined for other keys. */
  addressOf(key: Uint8Array): ObjectKey | undefined;
  encode(key: ObjectKey, object: ApiObject): Uint8Array;
  /** Returns a frozen object. */
  decode(key: ObjectKey, value: Uint8Array, resourceVersion: string): ApiObject;
  /** Seconds after which etcd removes an object; undefined: never. */
  lifetimeOf(key: ObjectKey): number | undefined;
}

const NOTHING = (): void => undefined;
/** How long a write waits for its own event. */
const APPLY_TIMEOUT_MS = 10_000;
/** When a request asks again after it did not reach etcd. */
const RECONNECT_MS = 100;

export interface EtcdStoreOptions extends StoreOptions {
  readonly client: EtcdClient;
  readonly form: StoredForm;
  /** Called when the content was loaded or replaced. */
  readonly onLoaded: () => Promise<void>;
  readonly leases: { for(seconds: number): Promise<number>; forget(id: number): void };
  readonly health: EtcdHealth;
  readonly servers: ServerLeases;
}

export class EtcdStore extends Store implements SharedAccess, FeedTarget {
  readonly #client: EtcdClient;
  readonly #form: StoredForm;
  readonly #options: EtcdStoreOptions;
  /** The changes of the running transaction, by address. */
  #changes: Map<string, Change> | undefined;
  /** The objects of transactions that were sent, by address: their events need no decoding. */
  readonly #sent = new Map<string, { readonly value: Uint8Array; readonly object: ApiObject }>();
  /** The transactions of this process that are not finished, by address. */
  readonly #turns = new KeyTurns();
  readonly #feed: EtcdFeed;
  readonly #ports: NodePortRange;
  readonly #unreadable = new UnreadableValues();
  #stopCompaction: (() => void) | undefined;
  #lastService: Promise<void> = Promise.resolve();

  constructor(options: EtcdStoreOptions) {
    super(options);
    this.#options = options;
    this.#client = options.client;
    this.#form = options.form;
    this.#ports = new NodePortRange(options.form.dialect);
    this.#feed = new EtcdFeed(options.client, options.form.range, this);
  }

  override get shared(): SharedAccess {
    return this;
  }

  start(): void {
    this.#stopCompaction = startCompaction(this.#client);
    this.#feed.start();
  }

  async whenLoaded(until: number): Promise<boolean> {
    let undo = NOTHING;
    // A little earlier, like `whenCurrent`, so that the client is told that it may send the request again.
    const late = new Promise<boolean>((resolve) => {
      undo = systemClock.after(until - RECONNECT_MS - systemClock.now(), () => resolve(false));
    });
    try {
      return await Promise.race([this.#ask(this.#feed.whenReady()).then(() => true), late]);
    } finally {
      undo();
    }
  }

  async whenCurrent(until: number): Promise<boolean> {
    if (!(await this.whenLoaded(until))) return false;
    for (;;) {
      try {
        await this.#feed.catchUp();
        return true;
      } catch (error) {
        if (!isConnectionFailure(error)) throw toStatus(error, true);
        if (systemClock.now() + RECONNECT_MS > until) return false;
      }
      await new Promise<void>((resolve) => systemClock.after(RECONNECT_MS, resolve));
    }
  }

  get servers(): readonly string[] {
    return this.#options.servers.addresses;
  }

  announce(address: string): () => void {
    return this.#options.servers.announce(address);
  }

  check(): Promise<string | undefined> {
    return this.#options.health.check();
  }

  problemIn(range: ObjectRange): string | undefined {
    return this.#unreadable.firstIn(range);
  }

  turnOf({ storageKey, namespace = '', name = '' }: ObjectRange): Promise<void> | undefined {
    return this.#turns.wait([keyText({ storageKey, namespace, name })]);
  }

  override get(key: ObjectKey): ApiObject | undefined {
    const change = this.#changes?.get(keyText(key));
    return change === undefined ? super.get(key) : change.object;
  }

  /** In a transaction, its changes are at the end. */
  override list(query: ListQuery): ListPage {
    const page = super.list(query);
    const changes = [...(this.#changes?.values() ?? [])].filter(({ key }) => key.storageKey === query.storageKey);
    if (changes.length === 0) return page;
    const isChanged = new Set(changes.map(({ key }) => keyText(key)));
    const { storageKey, matches = () => true } = query;
    const kept = page.items.filter(
      ({ metadata: { namespace = '', name } }) => !isChanged.has(keyText({ storageKey, namespace, name })),
    );
    const added = changes.flatMap(({ key, object }) => {
      const isInRange = query.namespace === undefined || key.namespace === query.namespace;
      return object !== undefined && isInRange && matches(object) ? [object] : [];
    });
    return { ...page, items: [...kept, ...added] };
  }

  override commit(write: Write): ApiObject {
    const changes = this.#changes;
    invariant(changes !== undefined, 'a write to etcd is part of a transaction');
    const { key } = write;
    const present = this.get(key);
    requireExpected(write, present);
    const object = write.makeObject('');
    const before = changes.get(keyText(key))?.before ?? Number(super.get(key)?.metadata.resourceVersion ?? 0);
    changes.set(keyText(key), { key, before, object: write.type === 'delete' ? undefined : object });
    return object;
  }

  override transaction<Result>(
    run: () => MaybePromise<Result>,
    confirm: (result: Result, resourceVersion: string) => Result,
  ): MaybePromise<Result> {
    if (this.#changes !== undefined) return run();
    const changes = new Map<string, Change>();
    this.#changes = changes;
    let result: MaybePromise<Result>;
    try {
      result = run();
    } finally {
      this.#changes = undefined;
    }
    if (changes.size === 0) return result;
    return this.#send([...changes.values()]).then(async (revision) => confirm(await result, String(revision)));
  }

  /** Returns the revision of the transaction. */
  async #send(changes: readonly Change[]): Promise<number> {
    const keys = changes.map(({ key }) => keyText(key));
    const turn = this.#turns.wait(keys);
    if (turn !== undefined) {
      // This transaction would lose the race.
      await turn;
      throw new StorageError('stale');
    }
    const leave = this.#turns.enter(keys);
    return this.#sendInTurn(changes).finally(leave);
  }

  /** Services follow each other, because they share the allocation of ports. */
  #sendInTurn(changes: readonly Change[]): Promise<number> {
    if (!changes.some(isService)) return this.#sendNow(changes);
    const sent = this.#lastService.then(() => this.#sendNow(changes));
    this.#lastService = sent.then(NOTHING, NOTHING);
    return sent;
  }

  async #sendNow(changes: readonly Change[], isRepeated = false): Promise<number> {
    let transaction: TxnRequest | undefined;
    try {
      transaction = await this.#transactionOf(changes);
      const { succeeded, responses, header } = await this.#client.txn(transaction);
      if (!succeeded) {
        const present = responses.map(({ responseRange }) => toNumber(responseRange?.kvs[0]?.modRevision ?? 0));
        throw lostRace(changes, present);
      }
      return await this.#whenApplied(toNumber(header.revision));
    } catch (error) {
      // The next attempt starts from the live object.
      if (error instanceof StorageError) await this.#ask(this.#feed.catchUp());
      if (error instanceof EtcdError && error.mayBeDone) return await this.#readBack(changes, error);
      if (isRepeated || !isLostLease(error)) throw toStatus(error, true);
      for (const id of leasesOf(transaction)) this.#options.leases.forget(id);
      return await this.#sendNow(changes, true);
    } finally {
      for (const { key } of changes) this.#sent.delete(keyText(key));
    }
  }

  async #transactionOf(changes: readonly Change[]): Promise<TxnRequest> {
    const writes: { readonly key: Uint8Array; readonly before: number; readonly operation: RequestOp }[] = [];
    for (const { key, before, object } of changes) {
      const operation = await this.#operation(key, object);
      writes.push({ key: this.#form.keyOf(key), before, operation });
    }
    const ports = this.#portsOf(changes);
    const { rangeKey } = this.#form;
    if (ports !== undefined) {
      const operation = { requestPut: { key: rangeKey, value: ports.value } };
      writes.push({ key: rangeKey, before: ports.before, operation });
    }
    return {
      compare: writes.map(({ key, before }) => ({ result: 0, target: 2, key, modRevision: before })),
      success: writes.map(({ operation }) => operation),
      failure: writes.map(({ key }) => ({ requestRange: { key, keysOnly: true } })),
    };
  }

  #portsOf(changes: readonly Change[]): RangeChange | undefined {
    const services = changes.filter(isService);
    if (services.length === 0) return undefined;
    return this.#ports.change(
      nodePortsOf(services.map(({ key }) => super.get(key))),
      nodePortsOf(services.map(({ object }) => object)),
    );
  }

  async #operation(key: ObjectKey, object: ApiObject | undefined): Promise<RequestOp> {
    const at = this.#form.keyOf(key);
    if (object === undefined) return { requestDeleteRange: { key: at } };
    const value = this.#form.encode(key, object);
    this.#sent.set(keyText(key), { value, object });
    const seconds = this.#form.lifetimeOf(key);
    const lease = seconds === undefined ? {} : { lease: await this.#ask(this.#options.leases.for(seconds)) };
    return { requestPut: { key: at, value, ...lease } };
  }

  /**
   * Finds out whether a transaction was executed. Only a created object can be recognized, by its uid; all other outcomes
   * remain unknown.
   */
  async #readBack(changes: readonly Change[], failure: EtcdError): Promise<number> {
    const created = changes.find(({ before, object }) => before === 0 && object !== undefined);
    if (created?.object === undefined) throw toStatus(failure, false);
    const read = await this.#client.range({ key: this.#form.keyOf(created.key) }).catch(() => undefined);
    const found = read?.kvs[0];
    if (found === undefined || toNumber(found.version) !== 1) throw toStatus(failure, false);
    const revision = toNumber(found.createRevision);
    const { metadata } = this.#form.decode(created.key, found.value, String(revision));
    if (metadata.uid !== created.object.metadata.uid) throw toStatus(failure, false);
    return this.#whenApplied(revision);
  }

  /** Waits until the event of a write is received. The write cannot be undone. */
  async #whenApplied(revision: number): Promise<number> {
    await this.#feed.whenReached(revision, APPLY_TIMEOUT_MS).catch(() => {
      throw errors.timeout(
        `the change is stored with resourceVersion ${revision}, but this server has not received it`,
      );
    });
    return revision;
  }

  async #ask<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await answer;
    } catch (error) {
      throw toStatus(error, true);
    }
  }

  replace(kvs: readonly KeyValue[], revision: number): void {
    const objects: PlacedObject[] = [];
    this.#options.servers.clear();
    this.#unreadable.clear();
    this.#ports.clear();
    for (const { key, value, modRevision } of kvs) {
      const address = this.#form.addressOf(key);
      if (address === undefined) {
        this.#receiveInternal(key, value, modRevision);
        continue;
      }
      const object = this.#decode(address, value, String(toNumber(modRevision)));
      if (object !== undefined) objects.push({ key: address, object });
    }
    // Also removes what is no longer there. Open watches end with Expired.
    this.restore(new Store(this.#options).snapshot());
    this.load(objects, revision);
  }

  put({ key: etcdKey, value, modRevision }: KeyValue): void {
    const key = this.#form.addressOf(etcdKey);
    if (key === undefined) {
      this.#receiveInternal(etcdKey, value, modRevision);
      return;
    }
    const revision = toNumber(modRevision);
    const resourceVersion = String(revision);
    const sent = this.#sent.get(keyText(key));
    const object =
      sent !== undefined && Buffer.compare(sent.value, value) === 0
        ? withResourceVersion(sent.object, resourceVersion)
        : this.#decode(key, value, resourceVersion);
    // Otherwise the server keeps the object that it knew before.
    if (object === undefined) return;
    const type = super.get(key) === undefined ? 'ADDED' : 'MODIFIED';
    this.repeat({ revision, type, key, object, time: this.#options.clock.now() });
  }

  #decode(key: ObjectKey, value: Uint8Array, resourceVersion: string): ApiObject | undefined {
    return this.#unreadable.decode(key, () => this.#form.decode(key, value, resourceVersion));
  }

  #receiveInternal(key: Uint8Array, value: Uint8Array, modRevision: KeyValue['modRevision']): void {
    this.#options.servers.receive(key, 'put');
    if (this.#isRangeKey(key)) this.#ports.receive(value, toNumber(modRevision));
  }

  #isRangeKey(key: Uint8Array): boolean {
    return Buffer.compare(key, this.#form.rangeKey) === 0;
  }

  delete({ key: etcdKey, modRevision }: KeyValue): void {
    const key = this.#form.addressOf(etcdKey);
    if (key === undefined) {
      this.#options.servers.receive(etcdKey, 'delete');
      if (this.#isRangeKey(etcdKey)) this.#ports.forgetRevision();
    } else this.#unreadable.delete(key);
    const previous = key === undefined ? undefined : super.get(key);
    if (key === undefined || previous === undefined) return;
    const revision = toNumber(modRevision);
    const object = withResourceVersion(previous, String(revision));
    this.repeat({ revision, type: 'DELETED', key, object, time: this.#options.clock.now() });
  }

  advance(revision: number): void {
    this.advanceTo(revision);
  }

  onLoaded(): Promise<void> {
    return this.#options.onLoaded();
  }

  async stop(): Promise<void> {
    this.#stopCompaction?.();
    await this.#options.servers.stop();
    this.#feed.close();
    this.#client.close();
  }
}
