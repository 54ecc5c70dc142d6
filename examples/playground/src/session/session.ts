/**
 * The state of the page: the cluster, the user, the selection, and the logs. Panels read it with `useSession` and
 * change it through the methods of {@link Session}. State that two panels need is held only here.
 */
import type { ApiObject, Client, ServedKind, Status, User } from 'orchplane';
import { createFetchHandler, type FetchHandler } from 'orchplane/http';
import type { TestCluster } from 'orchplane/testing';
import { driveClock } from './drive-clock.js';
import { Feed } from './feed.js';
import { makeCluster } from './make-cluster.js';
import { refKey } from './refs.js';
import { Store, useStore } from './store.js';
import type { Notice, ObjectRef, Past, RequestEntry, SessionState, TemporaryCluster } from './types.js';

export const ADMINISTRATOR: User = { user: 'admin', groups: ['system:masters', 'system:authenticated'] };

const USERS: readonly User[] = [
  ADMINISTRATOR,
  { user: 'alice', groups: ['developers', 'system:authenticated'] },
  { user: 'bob', groups: ['viewers', 'system:authenticated'] },
];

const MAX_LOG_ENTRIES = 300;

/** A response of the server, successful or not. */
export interface SessionResponse {
  readonly ok: boolean;
  readonly code: number;
  readonly body: unknown;
  /** Present if the request failed. */
  readonly status?: Status;
  readonly warnings: readonly string[];
}

export interface SessionRequestOptions {
  readonly method?: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly accept?: string;
  /** The user; the selected user by default. */
  readonly as?: User;
  /** The part of the page that sends the request, for the log. `undefined`: the request is not logged. */
  readonly from?: string;
}

export class Session {
  readonly store: Store<SessionState>;
  #handler: FetchHandler;
  /** The user of the handler's requests; set right before each. */
  #requestUser: User = ADMINISTRATOR;
  #feed: Feed;
  #stopClock: () => void;
  #count = 0;

  constructor(cluster: TestCluster = makeCluster()) {
    this.store = new Store<SessionState>({
      cluster,
      kinds: [],
      objects: new Map(),
      past: undefined,
      temporary: undefined,
      selected: undefined,
      text: '',
      user: ADMINISTRATOR,
      users: USERS,
      manager: 'me',
      managers: ['me', 'ci', 'autoscaler'],
      force: false,
      namespace: 'default',
      stream: [],
      requests: [],
      notices: [],
      conflict: undefined,
      speed: 1,
      panel: 'watch',
      hasWritten: false,
      savedText: '',
    });
    ({ handler: this.#handler, feed: this.#feed, stopClock: this.#stopClock } = this.#attach(cluster));
  }

  get state(): SessionState {
    return this.store.get();
  }

  get cluster(): TestCluster {
    return this.state.cluster;
  }

  /** The typed client of the selected user and manager. The log does not contain its requests, only those of `request`. */
  get client(): Client {
    const { user, manager, namespace } = this.state;
    return this.cluster.with({ as: user, fieldManager: manager, namespace });
  }

  /** Shows another cluster. The caller keeps or closes the previous one. User and clock speed stay. */
  replaceCluster(cluster: TestCluster): void {
    this.#stopClock();
    this.#feed.close();
    this.store.set({
      cluster,
      kinds: [],
      objects: new Map(),
      past: undefined,
      selected: undefined,
      stream: [],
      requests: [],
      notices: [],
      conflict: undefined,
    });
    ({ handler: this.#handler, feed: this.#feed, stopClock: this.#stopClock } = this.#attach(cluster));
  }

  /** Stops the clock, ends the watches and closes the cluster. */
  async close(): Promise<void> {
    this.#stopClock();
    this.#feed.close();
    await this.cluster.close();
  }

  /** Switches to a fork or a scenario. The current cluster is kept for `returnToKeptCluster`. */
  switchCluster(type: TemporaryCluster['type'], title: string, to: TestCluster): void {
    const { cluster, text, namespace, selected, temporary } = this.state;
    this.replaceCluster(to);
    this.store.set({ temporary: { type, title, kept: { cluster, text, namespace, selected, temporary } } });
  }

  /** Returns to the kept cluster. The writes to the other one are lost. */
  async returnToKeptCluster(): Promise<void> {
    const { cluster, temporary } = this.state;
    if (temporary === undefined) return;
    const { kept } = temporary;
    this.replaceCluster(kept.cluster);
    // A fork uses the user's own text; a scenario has replaced the text.
    const texts = temporary.type === 'scenario' ? { text: kept.text, namespace: kept.namespace } : {};
    this.store.set({ temporary: kept.temporary, selected: kept.selected, ...texts });
    await cluster.close();
  }

  /** Whether closing the page would lose work. */
  get isUnsaved(): boolean {
    const { hasWritten, text, savedText } = this.state;
    return hasWritten || text !== savedText;
  }

  /** Marks the current state as one that a reload restores: it is the initial one, or the address contains it. */
  markSaved(): void {
    this.store.set({ hasWritten: false, savedText: this.state.text });
  }

  /** Marks the cluster as changed. */
  markWritten(): void {
    if (!this.state.hasWritten) this.store.set({ hasWritten: true });
  }

  /** Sends one HTTP request: `path` is `/apis/…?…`. Does not throw for error responses. */
  async request(path: string, options: SessionRequestOptions = {}): Promise<SessionResponse> {
    const { method = 'GET', body, contentType, accept = 'application/json', as = this.state.user, from } = options;
    const started = performance.now();
    const at = this.cluster.clock.now();
    const headers = new Headers({ Accept: accept });
    if (contentType !== undefined) headers.set('Content-Type', contentType);
    this.#requestUser = as;
    const request = new Request(`http://cluster${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    const response = await this.#handler(request);
    const text = await response.text();
    const isJson = response.headers.get('Content-Type')?.includes('json') === true;
    const value: unknown = isJson && text !== '' ? JSON.parse(text) : text;
    const status = response.ok ? undefined : (value as Status);
    if (from !== undefined) {
      if (method !== 'GET' && response.ok) this.markWritten();
      const entry = {
        ...(body === undefined ? {} : { body }),
        answer: value,
        at,
        method,
        path,
        user: as.user,
        code: response.status,
        tookMs: performance.now() - started,
        from,
      };
      this.#log(status?.message === undefined ? entry : { ...entry, message: status.message });
    }
    return {
      ok: response.ok,
      code: response.status,
      body: value,
      ...(status === undefined ? {} : { status }),
      warnings: warningsOf(response),
    };
  }

  /** The served kind of a document; undefined if it is not served. */
  kindOf(apiVersion: string, kind: string): ServedKind | undefined {
    return this.cluster.kinds().find((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
  }

  /** The object as the page shows it: now, or at the selected time in the past. */
  objectOf(ref: ObjectRef): ApiObject | undefined {
    const { past, objects } = this.state;
    return (past?.objects ?? objects).get(refKey(ref));
  }

  select(selected: ObjectRef | undefined): void {
    this.store.set({ selected });
  }

  /** Sets the editor's text. */
  setText(text: string): void {
    this.store.set({ text });
  }

  setUser(user: User): void {
    const known = this.state.users.some((each) => each.user === user.user);
    this.store.set({ user, ...(known ? {} : { users: [...this.state.users, user] }) });
  }

  setManager(manager: string): void {
    const known = this.state.managers.includes(manager);
    this.store.set({ manager, ...(known ? {} : { managers: [...this.state.managers, manager] }) });
  }

  openPanel(panel: string | undefined): void {
    this.store.set({ panel });
  }

  /** Shows a past state in the tree and the object view; undefined returns to the present. */
  showPast(past: Past | undefined): void {
    this.store.set({ past });
  }

  clearStream(): void {
    this.#feed.clearStream();
  }

  notify(tone: Notice['tone'], text: string): void {
    const notice = { id: ++this.#count, tone, text };
    // A repeated notice replaces the earlier one.
    const others = this.state.notices.filter((each) => each.text !== text);
    this.store.set({ notices: [...others, notice].slice(-3) });
    setTimeout(() => this.dismiss(notice.id), tone === 'bad' ? 7_000 : 4_000);
  }

  dismiss(id: number): void {
    this.store.set({ notices: this.state.notices.filter((notice) => notice.id !== id) });
  }

  #log(entry: Omit<RequestEntry, 'id'>): void {
    this.store.set({ requests: [...this.state.requests, { id: ++this.#count, ...entry }].slice(-MAX_LOG_ENTRIES) });
  }

  #attach(cluster: TestCluster): { handler: FetchHandler; feed: Feed; stopClock: () => void } {
    const handler = createFetchHandler(cluster, { authenticate: () => this.#requestUser });
    const feed = new Feed(cluster, (state) => this.store.set(state));
    feed.syncKinds();
    const stopClock = driveClock(
      cluster,
      () => this.state.speed,
      () => {
        feed.syncKinds();
        feed.startReporting();
      },
    );
    return { handler, feed, stopClock };
  }
}

/** Reads a part of the session in a component. */
export function useSession<Part>(session: Session, select: (state: SessionState) => Part): Part {
  return useStore(session.store, select);
}

/** Parses a Warning header: `299 - "text"`, possibly several in one line. */
function warningsOf(response: Response): readonly string[] {
  const header = response.headers.get('Warning') ?? '';
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1'));
}
