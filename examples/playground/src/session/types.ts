/**
 * What the page knows beside the cluster itself.
 */
import type { ApiObject, ClusterOptions, ServedKind, StatusCause, User } from 'orchplane';
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

export interface SessionState {
  /** Another one after `restart`. */
  readonly cluster: TestCluster;
  /** What is served, one entry for each kind: the version in which objects are shown. */
  readonly kinds: readonly ServedKind[];
  /** Everything there is now, by `refKey`. */
  readonly objects: ReadonlyMap<string, ApiObject>;
  readonly past: Past | undefined;
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
}

export type RestartOptions = Pick<ClusterOptions, 'controllers'> & {
  /** Applied in the name of `manager` before anybody sees the cluster. */
  readonly yaml?: string;
  readonly manager?: string;
  readonly text?: string;
};
