/**
 * Server-side reconcilers, for kinds whose objects change what the server does: a CRD makes it serve another kind. After
 * every mutating request, before the response, the server checks whether a table that any reconciler has read has changed.
 * If so, it runs all reconcilers, until nothing changes any more.
 */
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { RuntimeSlot } from '../protocol/connection.js';
import type { KeyIndex, KeysOf } from '../storage/types.js';
import type { Clock, Undo } from '../util/clock.js';
import type { Kind } from './kind.js';
import type { ObjectReader } from './objects.js';
import type { ServedKind } from './served-kind.js';
import type { ClusterSettings } from './shared/cluster-settings.js';

/** What a reconciler may read and do. The calls are synchronous: no other write runs between them. */
export interface ReconcilerHost {
  readonly dialect: Dialect;
  readonly objects: ObjectReader;
  /** Visits the stored objects of a resource. A failure is reported, and the object is left out until it changes. */
  each(resource: GroupResource, visit: (object: ApiObject) => void): void;
  /** The conversion functions and webhooks outside the server; see `conversion.ts`. */
  readonly external: ExternalCalls;
  readonly clock: Clock;
  /** The current time in wire format. */
  now(): string;
  readonly settings: ClusterSettings;
  /**
   * Serves exactly these versions of the kind of a CRD. `storageKind`, the storage version, is served or not; if it is undefined, the kind
   * is no longer served. Stored objects are not deleted: see `deleteAll`.
   */
  serveCustomKinds(crdName: string, versions: readonly Kind[], storageKind: Kind | undefined): void;
  /** Ends the watches of a resource after they have sent all events so far. */
  endWatches(resource: GroupResource): void;
  /** The served kinds that do not come from a CRD, in each version. Returns the same list until it changes. */
  installedKinds(): readonly ServedKind[];
  /**
   * Writes the status of an object as the server, without admission. With `appliedBy` it is a forced apply by that
   * field manager: the draft is empty, and `change` sets the complete apply configuration. A write
   * that the server refuses is reported, and not repeated until the object changes; returns false then.
   */
  writeStatus(object: ApiObject, change: (draft: DraftObject) => void, appliedBy?: string): boolean;
  /**
   * Creates an object of the reconciler's kind as the server, without admission. Throws the StatusError
   * that a client would get. `manager` is the field manager; absent: the server's own.
   */
  create(draft: Readonly<Record<string, unknown>>, manager?: string): void;
  /** Updates an object of the reconciler's kind. A refused write is handled as by `writeStatus`. */
  update(object: ApiObject, change: (draft: DraftObject) => void, manager?: string): void;
  /** Deletes an object of the reconciler's kind, as a client would. A refused write is handled as by `writeStatus`. */
  remove(object: ApiObject): void;
  /**
   * The addresses on which the server listens, oldest first; the same list until it changes. Undefined before the first,
   * empty when all have closed.
   */
  listeners(): readonly ServerListener[] | undefined;
  /** Whether other processes may serve the cluster, too, whose listeners need not be known. */
  readonly isShared: boolean;
  /** Calls `reconcile` after the given time. Returns a function that cancels the call. */
  wakeAfter(afterMs: number): Undo;
  /**
   * Starts a pause of this length in real time if the client asked for realistic pacing (`ApiRequest.isPaced`); `end` is
   * called, and then `reconcile`. False: no pause.
   */
  pace(afterMs: number, end: () => void): boolean;
  /** Starts to delete all objects of a resource. */
  deleteAll(resource: GroupResource, onConverted: () => void): void;
  /** An index of the stored objects by key; see `Objects` in `objects.ts`. */
  index<Key>(resource: GroupResource, keysOf: KeysOf<Key>): KeyIndex<Key>;
  /**
   * The names of the objects of a cluster-scoped resource that changed since the last call of this reconciler. Undefined
   * if they are not known: on the first call, after a restore, and when too many have changed.
   */
  changedNames(resource: GroupResource): ReadonlySet<string> | undefined;
  /** A number that grows with every change of a resource, and only then. */
  lastChange(resource: GroupResource): number;
  /** Whether writes to a store outside of the process are not confirmed yet. All reconcilers run again after them. */
  isWriting(): boolean;
}

/** An address on which clients reach the API server. */
export interface ServerListener {
  /** An IP address that is not a loopback address. */
  readonly address: string;
  /** Absent: another process listens there, whose port is not known. */
  readonly port?: number;
  /**
   * The data of ConfigMap extension-apiserver-authentication, which tells aggregated API servers how this server
   * authenticates clients, given the present data. Absent: the listener writes none.
   */
  readonly authenticationData?: ((present: ConfigData) => ConfigData) | undefined;
}

/** The data of a ConfigMap. */
export type ConfigData = Readonly<Record<string, string>>;

/** The reconciler of a kind, with its state. */
export interface ServerReconciler {
  /** Brings the server in line with the objects. Cheap if nothing has changed. */
  reconcile(): void;
}

/** The ways to convert custom resources outside the server. */
export interface ExternalCalls {
  /** Functions that replace the conversion webhook of a CRD, by the CRD's name. */
  readonly conversions: Readonly<Record<string, ConvertObject>>;
  /** Locates or calls webhooks; absent: as configured. See `webhook/caller.ts`. */
  readonly webhooks?: Webhooks | undefined;
  /** The runtime whose pods may serve webhooks. */
  readonly runtimeSlot: RuntimeSlot;
  /** A new UID for a review request, which the response must repeat. */
  uid(): string;
}

/** Converts an object to another version. The object is a copy; the function may change and return it. */
export type ConvertObject = (object: DraftObject, toVersion: string) => DraftObject | Promise<DraftObject>;

/** The address of a webhook, as in a webhook configuration. */
export interface WebhookAddress {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** The CA certificates for the webhook's serving certificate, base64. */
  readonly caBundle?: string;
}

/** Sends a review and returns the parsed response. Rejects with an error whose message is part of the response. */
export type WebhookCaller = (
  address: WebhookAddress,
  review: Readonly<Record<string, unknown>>,
  timeoutSeconds: number,
) => Promise<unknown>;

/** A webhook in this process: receives a copy of a review and returns a review. */
export type WebhookFunction = (review: Record<string, unknown>) => unknown;

/** Maps the address in a webhook configuration to the actual target. */
export interface WebhookResolver {
  /**
   * Returns the complete URL for reviews, a function of this process, or undefined for the configured address. Called
   * for every review.
   */
  resolve(address: WebhookAddress): string | WebhookFunction | undefined;
  /** Sends reviews and verifies certificates. Absent: the caBundle is used, in Node, and otherwise the platform's `fetch`. */
  readonly fetch?: typeof fetch;
}

/** How conversion and admission webhooks are called. */
export type Webhooks = WebhookCaller | WebhookResolver;
