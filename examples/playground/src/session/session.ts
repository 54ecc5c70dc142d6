/**
 * The one store of the page: the cluster, who is asking, what is selected, and what has happened. Panels read it with
 * `useSession` and change things through the methods of {@link Session}; nothing else holds state that two panels need.
 */
import type { ApiObject, Client, ServedKind, Status, User } from 'orchplane';
import { createFetchHandler, type FetchHandler } from 'orchplane/http';
import type { TestCluster } from 'orchplane/testing';
import { driveClock } from './drive-clock.js';
import { Feed } from './feed.js';
import { makeCluster } from './make-cluster.js';
import { refKey } from './refs.js';
import { Store, useStore } from './store.js';
import type { Aside, Notice, ObjectRef, Past, RequestEntry, SessionState } from './types.js';

export const ADMINISTRATOR: User = { user: 'admin', groups: ['system:masters', 'system:authenticated'] };

const USERS: readonly User[] = [
  ADMINISTRATOR,
  { user: 'alice', groups: ['developers', 'system:authenticated'] },
  { user: 'bob', groups: ['viewers', 'system:authenticated'] },
];

const LONGEST_LOG = 300;

/** An answer of the server, whatever it is. */
export interface Answer {
  readonly ok: boolean;
  readonly code: number;
  readonly body: unknown;
  /** Present when the server refused. */
  readonly status?: Status;
  readonly warnings: readonly string[];
}

export interface AskOptions {
  readonly method?: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly accept?: string;
  /** Who asks; the present user unless given. */
  readonly as?: User;
  /** Which part of the page asks, for the log. `undefined`: it is not written down. */
  readonly from?: string;
}

export class Session {
  readonly store: Store<SessionState>;
  #handler: FetchHandler;
  /** Whom requests of the handler come from; set right before each. */
  #asking: User = ADMINISTRATOR;
  #feed: Feed;
  #stopClock: () => void;
  #count = 0;

  constructor(cluster: TestCluster = makeCluster()) {
    this.store = new Store<SessionState>({
      cluster,
      kinds: [],
      objects: new Map(),
      past: undefined,
      aside: undefined,
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

  /** The typed client, as the present user and manager. Its requests are not in the log; those of `ask` are. */
  get client(): Client {
    const { user, manager, namespace } = this.state;
    return this.cluster.with({ as: user, fieldManager: manager, namespace });
  }

  /** The page shows this cluster from now on. The old one is left to its owner; who asks, and how fast time goes, stays. */
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

  /** Goes on with a cluster beside the present one, which is kept for `comeBack`. */
  goAside(type: Aside['type'], title: string, to: TestCluster): void {
    const { cluster, text, namespace, selected, aside } = this.state;
    this.replaceCluster(to);
    this.store.set({ aside: { type, title, kept: { cluster, text, namespace, selected, aside } } });
  }

  /** Back to the cluster that was kept, as it was. What was written beside it is lost. */
  async comeBack(): Promise<void> {
    const { cluster, aside } = this.state;
    if (aside === undefined) return;
    const { kept } = aside;
    this.replaceCluster(kept.cluster);
    // A fork goes on with the visitor's own text; a scenario has put its texts in the place of that.
    const texts = aside.type === 'scenario' ? { text: kept.text, namespace: kept.namespace } : {};
    this.store.set({ aside: kept.aside, selected: kept.selected, ...texts });
    await cluster.close();
  }

  /** Whether the visitor would lose something by leaving the page. */
  get isUnsaved(): boolean {
    const { hasWritten, text, savedText } = this.state;
    return hasWritten || text !== savedText;
  }

  /** The page could come back as it is now: it has just begun, or its address says everything. */
  markSaved(): void {
    this.store.set({ hasWritten: false, savedText: this.state.text });
  }

  /** Something was written into the cluster. */
  markWritten(): void {
    if (!this.state.hasWritten) this.store.set({ hasWritten: true });
  }

  /** One request as a client far away would make it: `path` is `/apis/…?…`. Never throws for what the server refuses. */
  async ask(path: string, options: AskOptions = {}): Promise<Answer> {
    const { method = 'GET', body, contentType, accept = 'application/json', as = this.state.user, from } = options;
    const started = performance.now();
    const at = this.cluster.clock.now();
    const headers = new Headers({ Accept: accept });
    if (contentType !== undefined) headers.set('Content-Type', contentType);
    this.#asking = as;
    const request = new Request(`http://cluster${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    const response = await this.#handler(request);
    const text = await response.text();
    const value: unknown = accept.includes('json') && text !== '' ? JSON.parse(text) : text;
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

  /** The kind that documents name so; undefined when it is not served. */
  kindOf(apiVersion: string, kind: string): ServedKind | undefined {
    return this.cluster.kinds().find((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
  }

  /** The object as the page shows it: now, or in the past that is looked at. */
  objectOf(ref: ObjectRef): ApiObject | undefined {
    const { past, objects } = this.state;
    return (past?.objects ?? objects).get(refKey(ref));
  }

  select(selected: ObjectRef | undefined): void {
    this.store.set({ selected });
  }

  /** Puts a text into the editor. */
  setText(text: string): void {
    this.store.set({ text });
  }

  speakAs(user: User): void {
    const known = this.state.users.some((each) => each.user === user.user);
    this.store.set({ user, ...(known ? {} : { users: [...this.state.users, user] }) });
  }

  manageAs(manager: string): void {
    const known = this.state.managers.includes(manager);
    this.store.set({ manager, ...(known ? {} : { managers: [...this.state.managers, manager] }) });
  }

  openPanel(panel: string | undefined): void {
    this.store.set({ panel });
  }

  /** Shows a moment of the past in the tree and the object view; undefined: the present. */
  showPast(past: Past | undefined): void {
    this.store.set({ past });
  }

  clearStream(): void {
    this.#feed.clearStream();
  }

  notify(tone: Notice['tone'], text: string): void {
    const notice = { id: ++this.#count, tone, text };
    // What is said again takes the place of what was said before.
    const others = this.state.notices.filter((each) => each.text !== text);
    this.store.set({ notices: [...others, notice].slice(-3) });
    setTimeout(() => this.dismiss(notice.id), tone === 'bad' ? 7_000 : 4_000);
  }

  dismiss(id: number): void {
    this.store.set({ notices: this.state.notices.filter((notice) => notice.id !== id) });
  }

  #log(entry: Omit<RequestEntry, 'id'>): void {
    this.store.set({ requests: [...this.state.requests, { id: ++this.#count, ...entry }].slice(-LONGEST_LOG) });
  }

  #attach(cluster: TestCluster): { handler: FetchHandler; feed: Feed; stopClock: () => void } {
    const handler = createFetchHandler(cluster, { authenticate: () => this.#asking });
    const feed = new Feed(cluster, (state) => this.store.set(state));
    feed.lookAround();
    const stopClock = driveClock(
      cluster,
      () => this.state.speed,
      () => {
        feed.lookAround();
        feed.begin();
      },
    );
    return { handler, feed, stopClock };
  }
}

/** A part of the session in a component. */
export function useSession<Part>(session: Session, select: (state: SessionState) => Part): Part {
  return useStore(session.store, select);
}

/** `299 - "text"`, several in one line. */
function warningsOf(response: Response): readonly string[] {
  const header = response.headers.get('Warning') ?? '';
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1'));
}
