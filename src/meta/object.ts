/**
 * The types of API objects: metadata, lists, drafts, changes. spec: Resources and their fields, Conventions
 */

/**
 * A deeply readonly type. Objects that the library returns are also frozen.
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

/** Metadata as a client may send it. The server sets and overrides some of the fields. */
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
  /** Absent in the response to a dry-run create. */
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

/** An object during a write. The write owns it, and it is not yet frozen. */
export interface DraftObject {
  kind: string;
  apiVersion: string;
  metadata: DraftMeta;
  [field: string]: unknown;
}

/** Metadata during a write: all fields may be missing, even the name. Fields that are `undefined` are not stored. */
export type DraftMeta = { -readonly [Key in keyof ObjectMetaInput]?: ObjectMetaInput[Key] | undefined } & {
  selfLink?: string | undefined;
};

/** A change to one object, as the store records it and a watch delivers it. */
export interface ChangeEvent<Object = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Object;
}
