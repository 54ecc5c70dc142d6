/**
 * Makes random writes to a store with a journal and records every state, so that a test can check what the journal
 * restores.
 */
import type { ApiObject } from '../../../../src/index.js';
import { FileJournal } from '../../../../src/node/journal/file-journal.js';
import type { FileJournalOptions } from '../../../../src/node/journal/options.js';
import { beginJournal, resumeJournal } from '../../../../src/storage/journal/attach.js';
import type { Journal, JournalContent } from '../../../../src/storage/journal/types.js';
import { memoryStorage } from '../../../../src/storage/memory-storage.js';
import { Store, type StoreSnapshot } from '../../../../src/storage/store.js';
import { StorageError } from '../../../../src/storage/types.js';
import { systemClock } from '../../../../src/util/clock.js';
import { deepFreeze } from '../../../../src/util/json.js';
import type { Random } from './random.js';
import type { SimulatedDisk } from './simulated-disk.js';

/** The whole content at one revision as comparable text. */
export type Fingerprint = string;

export function simulatedJournal(disk: SimulatedDisk, options: FileJournalOptions = {}): FileJournal {
  const machine = { files: disk, lock: () => ({ requireHeld: () => undefined, release: () => undefined }) };
  return new FileJournal('data', { onWarning: () => undefined, reserve: 2_000, ...options }, machine);
}

export function newStore(): Store {
  return new Store({ clock: systemClock, ...memoryStorage() });
}

/** A store that continues where the journal ends. */
export function openStore(journal: Journal): Store {
  const store = newStore();
  const kept = journal.load();
  if (kept === undefined) beginJournal(journal, { store, dialect: 'orch' });
  else resumeJournal(journal, kept, { store, dialect: 'orch', complete: ({ object }) => object });
  return store;
}

export function fingerprintOf(store: Store): Fingerprint {
  const objects = RESOURCES.flatMap((resource) =>
    store.list({ storageKey: resource }).items.map((object) => [resource, object]),
  );
  return JSON.stringify([store.revision, objects]);
}

/** The content of a journal in the form of a store. */
export function fingerprintOfContent(content: JournalContent | undefined): Fingerprint {
  const store = newStore();
  if (content !== undefined) {
    store.load(content.checkpoint.objects, content.checkpoint.revision);
    for (const record of content.records) store.replay(record);
  }
  return fingerprintOf(store);
}

const RESOURCES = ['configmaps', 'pods'];

export class Driver {
  readonly store: Store;
  readonly journal: Journal;
  readonly #random: Random;
  /** Every state in order. */
  readonly states: Fingerprint[];
  /** The index of the newest state that was reported as durable. */
  acknowledged = 0;
  /** The state that a failed write would have created; it may be durable nevertheless. */
  attempted: Fingerprint | undefined;
  restoresOften = false;
  #snapshot: StoreSnapshot | undefined;

  constructor(journal: Journal, random: Random) {
    this.journal = journal;
    this.#random = random;
    this.store = openStore(journal);
    this.states = [fingerprintOf(this.store)];
  }

  /** The states that the journal may restore. */
  get possible(): readonly Fingerprint[] {
    const unacknowledged = this.states.slice(this.acknowledged);
    return this.attempted === undefined ? unacknowledged : [...unacknowledged, this.attempted];
  }

  /** Makes one write, and sometimes waits until it is durable. */
  async step(): Promise<void> {
    const random = this.#random;
    if (this.#snapshot !== undefined && random.chance(this.restoresOften ? 0.3 : 0.03)) this.#restore(this.#snapshot);
    else this.#write();
    if (random.chance(0.1)) this.#snapshot = this.store.snapshot();
    await this.#acknowledge(random.chance(0.6));
  }

  /** Records that all writes so far are durable, once they are. */
  async #acknowledge(isAwaited: boolean): Promise<void> {
    const index = this.states.length - 1;
    const setAcknowledged = (): void => {
      this.acknowledged = Math.max(this.acknowledged, index);
    };
    const waits = this.journal.whenDurable();
    if (waits === undefined) setAcknowledged();
    else if (isAwaited) await waits.then(setAcknowledged);
    else waits.then(setAcknowledged, () => undefined);
  }

  #restore(snapshot: StoreSnapshot): void {
    const probe = new Store({ clock: systemClock, ...memoryStorage() }, snapshot);
    this.attempted = fingerprintOf(probe);
    this.store.restore(snapshot);
    this.#done();
  }

  #write(): void {
    const random = this.#random;
    const key = { storageKey: random.pick(RESOURCES), namespace: 'default', name: `o${random.int(0, 5)}` };
    const present = this.store.get(key);
    const seal = (resourceVersion: string): ApiObject => {
      const text = random.pick(['', 'x', 'é\u{1F600}', 'long '.repeat(random.int(1, 300))]);
      const object = {
        kind: 'K',
        apiVersion: 'v1',
        metadata: { name: key.name, namespace: 'default', resourceVersion },
        text,
      };
      const made = deepFreeze(object) as unknown as ApiObject;
      this.attempted = this.#with(key, made, type === 'delete');
      return made;
    };
    const type = present === undefined ? 'create' : random.chance(0.3) ? 'delete' : 'update';
    try {
      if (type === 'create') this.store.commit({ type, key, makeObject: seal });
      else if (present !== undefined) this.store.commit({ type, key, expected: present, makeObject: seal });
    } catch (error) {
      if (error instanceof StorageError) throw new Error('a write of the test is wrong', { cause: error });
      throw error;
    }
    this.#done();
  }

  #done(): void {
    this.attempted = undefined;
    this.states.push(fingerprintOf(this.store));
  }

  #with(key: { storageKey: string; namespace: string; name: string }, object: ApiObject, isGone: boolean): Fingerprint {
    const after = new Store({ clock: systemClock, ...memoryStorage() }, this.store.snapshot());
    after.replay({ revision: this.store.revision + 1, type: isGone ? 'DELETED' : 'MODIFIED', key, object, time: 0 });
    return fingerprintOf(after);
  }
}
