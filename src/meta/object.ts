/**
 * What every API object has, as types. spec: Resources and their fields, Conventions
 */

/**
 * All the way down, nothing can be assigned. What the library hands out is also frozen.
 *
 * A plain mapped type, which maps arrays to readonly arrays and leaves strings and numbers alone: unlike a conditional
 * type it keeps its name in messages (`'spek' does not exist in type 'DeepReadonly<WidgetInput>'`).
 */
export type DeepReadonly<Value> = {
  readonly [Key in keyof Value]: unknown extends Value[Key] ? Value[Key] : DeepReadonly<Value[Key]>;
};

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  time?: string;
  fieldsType?: 'FieldsV1';
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** Metadata as a client may send it. The server fills in and overrules what is its own. */
export interface ObjectMetaInput {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string | null;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** Metadata as the server returns it. */
export interface ObjectMeta {
  name: string;
  generateName?: string;
  /** Absent on cluster-scoped kinds. */
  namespace?: string;
  uid: string;
  /** Absent on the answer to a dry-run create, which stored nothing. */
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** Any object, for code that does not know its kind. */
export interface ApiObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: DeepReadonly<ObjectMeta>;
  readonly [field: string]: unknown;
}

/** Any list. */
export interface ApiList<Item = ApiObject> {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ListMeta;
  readonly items: readonly Item[];
}

/** An object on its way through a write, owned by that write alone and not yet frozen. */
export interface DraftObject {
  kind: string;
  apiVersion: string;
  metadata: DraftMeta;
  [field: string]: unknown;
}

/** Metadata during a write: nothing is certain yet, not even a name. What is `undefined` will not be stored. */
export type DraftMeta = { -readonly [Key in keyof ObjectMetaInput]?: ObjectMetaInput[Key] | undefined } & {
  selfLink?: string | undefined;
};

export interface ChangeEvent<Object = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Object;
}
