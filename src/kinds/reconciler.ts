/**
 * Kinds whose objects change what the server does: a definition makes it serve another kind. Such a kind brings an
 * attendant, which the server calls after every write of such objects, before anybody is answered.
 */
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { Clock, Undo } from '../util/clock.js';
import type { Kind } from './kind.js';
import type { ObjectReader } from './objects.js';
import type { ServedKind } from './served-kind.js';

/** What an attendant may see and do. Everything happens at once: nobody else comes in between. */
export interface ReconcilerHost {
  readonly dialect: Dialect;
  readonly objects: ObjectReader;
  /** How conversions reach what is outside; see `conversion.ts`. */
  readonly external: ExternalCalls;
  readonly clock: Clock;
  /** Now, as a Time. */
  now(): string;
  /**
   * Serves these versions of a kind, and no others, in the name of `owner`. `stored` is the form in which its objects are
   * kept, served or not; without it they are forgotten.
   */
  serve(owner: string, versions: readonly Kind[], stored: Kind | undefined): void;
  /** Ends the watches of a resource when they have told what has happened up to now: it is no longer what they show. */
  endWatches(resource: GroupResource): void;
  /** Kinds of a group (as clients see it) that are not served in anybody's name. */
  unownedKinds(group: string): readonly Kind[];
  /**
   * Writes to the status of an object as the server itself, past all plugins. With `appliedBy` it is applied, by force,
   * as that manager: the draft is empty then, and what is put in it is all that the manager wants.
   */
  writeStatus(object: ApiObject, change: (draft: DraftObject) => void, appliedBy?: string): void;
  /**
   * Makes an object of the attended kind, which has no namespace, as the server itself, past all plugins. Throws what a
   * client would be told; `manager` owns its fields, the server's own unless given.
   */
  create(draft: Readonly<Record<string, unknown>>, manager?: string): void;
  /** The same for a change of one. */
  update(object: ApiObject, change: (draft: DraftObject) => void, manager?: string): void;
  /** Deletes one of them, as a client would. */
  remove(object: ApiObject): void;
  /** All kinds that are served, in each version; the same list as long as that does not change. */
  kinds(): readonly ServedKind[];
  /** Calls `settle` after so many milliseconds, whatever happens meanwhile. Returns what takes that back. */
  wakeAfter(afterMs: number): Undo;
  /** Begins to delete all objects of a resource. */
  deleteAll(resource: GroupResource): void;
  /** How often objects of a resource have been written: another number, another state. */
  writeCount(resource: GroupResource): number;
}

export interface ServerReconciler {
  /** Brings the server in line with the objects. Cheap when nothing has changed. */
  reconcile(): void;
}

/** Conversions that are not the server's own affair. */
export interface ExternalCalls {
  /** By the name of a definition: a function of this process that takes the place of its webhook. */
  readonly conversions: Readonly<Record<string, ConvertObject>>;
  /** Where a webhook is found, and how it is called; absent: by `fetch`. See `webhook-caller.ts`. */
  readonly webhooks?: Webhooks | undefined;
  /** Names a review, so that its answer is known to be one. */
  uid(): string;
}

/** Turns an object into another version; it is a copy, and may be changed and returned. */
export type ConvertObject = (object: DraftObject, toVersion: string) => DraftObject | Promise<DraftObject>;

/** Where a webhook is, as configurations say it. */
export interface WebhookAddress {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** Certificates that its server may be signed by, base64. */
  readonly caBundle?: string;
}

/** Sends a review and returns what comes back, parsed. Rejects with what is to be told about it. */
export type WebhookCaller = (
  address: WebhookAddress,
  review: Readonly<Record<string, unknown>>,
  timeoutSeconds: number,
) => Promise<unknown>;

/** A webhook in this process: takes a review, and answers with one. What it is given is a copy. */
export type WebhookFunction = (review: Record<string, unknown>) => unknown;

/** Says where webhooks are: the address that stands in a configuration → where it really is. */
export interface WebhookResolver {
  /**
   * A URL, whole, to which reviews are sent; a function of this process; undefined: where the configuration says. Called
   * with every review.
   */
  resolve(address: WebhookAddress): string | WebhookFunction | undefined;
  /** The platform's own unless said otherwise. */
  readonly fetch?: typeof fetch;
}

/** How webhooks for conversion and admission are reached. */
export type Webhooks = WebhookCaller | WebhookResolver;
