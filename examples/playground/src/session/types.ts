/**
 * The types of the session's state.
 */
import type { ApiObject, ServedKind, StatusCause, User } from 'orchplane';
import type { TestCluster } from 'orchplane/testing';

/** A reference to an object. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** One request of the page, as sent. */
export interface RequestEntry {
  readonly id: number;
  /** On the cluster's clock, in milliseconds. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly user: string;
  readonly code: number;
  /** In real milliseconds. */
  readonly tookMs: number;
  /** The server's message, if the request failed. */
  readonly message?: string;
  /** The request's body as sent. */
  readonly body?: string;
  /** The response's body: a document, or text. */
  readonly answer: unknown;
  /** The part of the page that sent the request: `editor`, `command line`, … */
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

/** An apply that failed with conflicts, with the data to resolve them. */
export interface Conflict {
  readonly ref: ObjectRef;
  readonly manager: string;
  readonly message: string;
  readonly causes: readonly StatusCause[];
  /** The document that was applied. */
  readonly text: string;
}

/** A past state that the page shows instead of the present one. */
export interface Past {
  readonly resourceVersion: string;
  readonly objects: ReadonlyMap<string, ApiObject>;
  /** A cluster in that state, to read the ownership of fields from. */
  readonly cluster?: Pick<TestCluster, 'api'>;
}

/** A fork or a scenario that the page shows. The user's own cluster is kept meanwhile, with its clock stopped. */
export interface TemporaryCluster {
  readonly type: 'fork' | 'scenario';
  /** A short description: `of version 12`, or the title of the scenario. */
  readonly title: string;
  readonly kept: Pick<SessionState, 'cluster' | 'text' | 'namespace' | 'selected' | 'temporary'>;
}

export interface SessionState {
  /** The cluster that the page shows: the user's own, a fork's or a scenario's. */
  readonly cluster: TestCluster;
  /** The served kinds, each in the version in which the page shows its objects. */
  readonly kinds: readonly ServedKind[];
  /** All current objects by `refKey`. */
  readonly objects: ReadonlyMap<string, ApiObject>;
  readonly past: Past | undefined;
  /** Undefined if the page shows the user's own cluster. */
  readonly temporary: TemporaryCluster | undefined;
  readonly selected: ObjectRef | undefined;
  /** The text of the editor. */
  readonly text: string;
  readonly user: User;
  readonly users: readonly User[];
  readonly manager: string;
  readonly managers: readonly string[];
  readonly force: boolean;
  /** The namespace of documents that do not name one. */
  readonly namespace: string;
  readonly stream: readonly StreamEntry[];
  readonly requests: readonly RequestEntry[];
  readonly notices: readonly Notice[];
  readonly conflict: Conflict | undefined;
  /** Cluster seconds per real second; 0 stops the clock. */
  readonly speed: number;
  /** The id of the open panel; undefined if the drawer is closed. */
  readonly panel: string | undefined;
  /** Whether the cluster has writes that closing the page would lose. */
  readonly hasWritten: boolean;
  /** The text that a reload restores. */
  readonly savedText: string;
}
