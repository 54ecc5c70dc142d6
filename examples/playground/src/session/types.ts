/**
 * What the page knows beside the cluster itself.
 */
import type { ApiObject, ServedKind, StatusCause, User } from 'orchplane';
import type { TestCluster } from 'orchplane/testing';

/** Which object. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** One request that somebody in the page has made, as it was on the wire. */
export interface RequestEntry {
  readonly id: number;
  /** On the cluster's clock, in milliseconds. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly user: string;
  readonly code: number;
  /** Of the machine. */
  readonly tookMs: number;
  /** What the server said when it refused. */
  readonly message?: string;
  /** What was sent along, as it was sent. */
  readonly body?: string;
  /** What came back: a document, or text. */
  readonly answer: unknown;
  /** Which part of the page has asked: `editor`, `command line`, … */
  readonly from: string;
}

/** One event of the watches that feed the page. */
export interface StreamEntry {
  readonly id: number;
  readonly at: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly ref: ObjectRef;
  readonly object: ApiObject;
  readonly previous?: ApiObject;
}

export interface Notice {
  readonly id: number;
  readonly tone: 'good' | 'bad' | 'info';
  readonly text: string;
}

/** An apply that others stand in the way of, with what is needed to go on. */
export interface Conflict {
  readonly ref: ObjectRef;
  readonly manager: string;
  readonly message: string;
  readonly causes: readonly StatusCause[];
  /** The document that was applied. */
  readonly text: string;
}

/** A moment that the page shows in place of the present. */
export interface Past {
  readonly resourceVersion: string;
  readonly objects: ReadonlyMap<string, ApiObject>;
  /** A cluster of that moment, to be asked who owned what. */
  readonly cluster?: Pick<TestCluster, 'api'>;
}

/** A cluster beside the one that the visitor has, which is kept meanwhile and stands still. */
export interface Aside {
  readonly type: 'fork' | 'scenario';
  /** What it is, in a few words: `of version 12`, or the title of the scenario. */
  readonly title: string;
  readonly kept: Pick<SessionState, 'cluster' | 'text' | 'namespace' | 'selected' | 'aside'>;
}

export interface SessionState {
  /** Another one in a fork or a scenario. */
  readonly cluster: TestCluster;
  /** What is served, one entry for each kind: the version in which objects are shown. */
  readonly kinds: readonly ServedKind[];
  /** Everything there is now, by `refKey`. */
  readonly objects: ReadonlyMap<string, ApiObject>;
  readonly past: Past | undefined;
  /** Undefined: this is the visitor's own cluster. */
  readonly aside: Aside | undefined;
  readonly selected: ObjectRef | undefined;
  /** The text of the editor. */
  readonly text: string;
  readonly user: User;
  readonly users: readonly User[];
  readonly manager: string;
  readonly managers: readonly string[];
  readonly force: boolean;
  /** Where documents without a namespace go. */
  readonly namespace: string;
  readonly stream: readonly StreamEntry[];
  readonly requests: readonly RequestEntry[];
  readonly notices: readonly Notice[];
  readonly conflict: Conflict | undefined;
  /** Seconds of the cluster in a second of the machine; 0: time stands still. */
  readonly speed: number;
  /** The id of the panel that is open in the drawer; undefined: it is closed. */
  readonly panel: string | undefined;
  /** Whether leaving the page would lose something that was written into the cluster. */
  readonly hasWritten: boolean;
  /** The text that the page would come back with. */
  readonly savedText: string;
}
