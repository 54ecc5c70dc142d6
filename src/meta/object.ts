/**
 * The types of API objects: metadata, lists, drafts, changes. spec: Resources and their fields, Conventions
 */

/**
 * A deeply readonly type. Objects that the library returns are also frozen.
 *
 * A mapped type, which maps arrays to readonly arrays: unlike a conditional type it keeps its name in messages
 * (`'spek' does not exist in type 'DeepReadonly<WidgetInput>'`). The members of a union are mapped one by one, so that
 * messages show `string | undefined` and not `DeepReadonly<string | undefined>`.
 */
export type DeepReadonly<Value> = {
  readonly [Key in keyof Value]: Value[Key] extends infer Part
    ? Part extends Scalar
      ? Part
      : unknown extends Part
        ? Part
        : DeepReadonly<Part>
    : never;
};

/** A value without members. */
export type Scalar = string | number | boolean | null | undefined;

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

/** Metadata of an object of a namespaced kind, as the server returns it. */
export interface NamespacedObjectMeta extends ObjectMeta {
  namespace: string;
}

/** Metadata of an object of a cluster-scoped kind, as the server returns it. */
export interface ClusterObjectMeta extends ObjectMeta {
  namespace?: never;
}

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The members of every object besides its body. */
export interface ObjectBase<Name extends string = string> {
  apiVersion: string;
  kind: Name;
  metadata: ObjectMeta;
}

/** The members of every object of a namespaced kind besides its body. */
export interface NamespacedObject<Name extends string = string> extends ObjectBase<Name> {
  metadata: NamespacedObjectMeta;
}

/** The members of every object of a cluster-scoped kind besides its body. */
export interface ClusterObject<Name extends string = string> extends ObjectBase<Name> {
  metadata: ClusterObjectMeta;
}

/** The members of every input besides its body. The server sets `apiVersion` and `kind` if they are absent. */
export interface InputBase {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMetaInput;
}

/** The members that objects of all kinds have, for code that is generic over kinds. */
export interface CommonObject {
  apiVersion: string;
  kind: string;
  metadata: { -readonly [Key in keyof ObjectMeta]: DeepReadonly<ObjectMeta>[Key] };
}

/** The members that inputs of all kinds have. */
export interface CommonInput {
  apiVersion?: string;
  kind?: string;
  metadata?: DeepReadonly<ObjectMetaInput>;
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

/** The fields of metadata in wire order. */
export const METADATA_FIELDS: readonly string[] = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
];
