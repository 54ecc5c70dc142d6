/**
 * The patch types of `patch`. Each constructor types its body according to its semantics; the kind is inferred from the
 * call: in `widgets.patch('w', mergePatch({…}))` the body is checked against Widget.
 */
import type { DeepReadonly } from '../meta/object.js';

/**
 * Carries the input type of a patch; it has no value at run time. Without it, patches of all kinds would have the same
 * type.
 */
declare const input: unique symbol;

/**
 * A JSON merge patch (RFC 7386) of an object with the input type `Input`.
 *
 * The body members of the patch types have different names, so that the compiler distinguishes them.
 */
export interface MergePatch<Input> {
  readonly type: 'merge';
  readonly merge: MergePatchBody<Input>;
  readonly [input]?: Input;
}

/**
 * A strategic merge patch of an object with the input type `Input`. Lists merge by the key that their kind declares.
 */
export interface StrategicPatch<Input> {
  readonly type: 'strategic';
  readonly strategic: StrategicPatchBody<Input>;
  readonly [input]?: Input;
}

/** A JSON patch (RFC 6902): operations that all succeed or change nothing. */
export interface JsonPatch {
  readonly type: 'json';
  readonly operations: readonly JsonPatchOperation[];
}

/** A patch of an object with the input type `Input`. */
export type Patch<Input> = MergePatch<Input> | StrategicPatch<Input> | JsonPatch;

/** Any part of the object. Null deletes a field; a list replaces the whole list. */
export type MergePatchBody<Value> = { readonly [Key in keyof Value]?: MergePatchField<Value[Key]> | null };

type MergePatchField<Value> = Value extends readonly unknown[]
  ? DeepReadonly<Value>
  : Value extends object
    ? MergePatchBody<Value>
    : Value;

/** Any part of the object, with directives. Null deletes a field; items of a list name the item they change. */
export type StrategicPatchBody<Value> = StrategicPatchFields<Value> & StrategicDirectives;

type StrategicPatchFields<Value> = { readonly [Key in keyof Value]?: StrategicPatchField<Value[Key]> | null };

type StrategicPatchField<Value> = Value extends readonly (infer Item)[]
  ? readonly StrategicPatchField<Item>[]
  : Value extends object
    ? StrategicPatchBody<Value>
    : Value;

/** Instructions among the fields of a strategic patch. */
export interface StrategicDirectives {
  /**
   * In a map: `replace` makes the other fields the whole new map, `delete` empties it. In a list item: `replace` makes
   * the other items the whole new list, `delete` removes the item with this key.
   */
  readonly $patch?: 'replace' | 'delete';
  /** Of a union: the fields to keep; others are cleared. */
  readonly $retainKeys?: readonly string[];
  /** The order of the named list: its items, of which only the merge key is needed. */
  readonly [order: `$setElementOrder/${string}`]: readonly unknown[];
  /** The values to remove from the named list of scalars. */
  readonly [deletion: `$deleteFromPrimitiveList/${string}`]: readonly unknown[];
}

/**
 * Any part of an object: the configuration of one field manager. It must not contain `managedFields`, which servers
 * reject.
 */
export type AppliedBody<Value> = {
  readonly [Key in keyof Value]?: Key extends 'metadata' ? AppliedMetadata<Value[Key]> : AppliedField<Value[Key]>;
};

/** Only the object's own metadata: the metadata of embedded templates may contain it. */
type AppliedMetadata<Value> = {
  readonly [Key in keyof Value]?: Key extends 'managedFields' ? never : AppliedField<Value[Key]>;
};

type AppliedField<Value> = Value extends readonly (infer Item)[]
  ? readonly AppliedField<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]?: AppliedField<Value[Key]> }
    : Value;

/** Paths are JSON pointers: `/metadata/labels/app`, with `~1` for a slash inside a key. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/**
 * A merge patch: the fields to change, null for those to delete. Inside `patch(…)` its body is typed by the kind;
 * elsewhere state the type, as in `mergePatch<WidgetInput>({…})`.
 *
 * @example
 * await configMaps.patch('settings', mergePatch({ data: { colour: 'blue', size: null } }));
 */
export function mergePatch<Input>(body: MergePatchBody<NoInfer<Input>>): MergePatch<Input> {
  return { type: 'merge', merge: body };
}

/**
 * A strategic merge patch: like a merge patch, but lists merge item by item where their kind declares a merge key, and
 * directives such as `$patch` override that. Only built-in kinds support it; others respond with UnsupportedMediaType.
 *
 * @example
 * await endpoints.patch('web', strategicPatch({ metadata: { finalizers: ['example.com/wait'] } }));
 */
export function strategicPatch<Input>(body: StrategicPatchBody<NoInfer<Input>>): StrategicPatch<Input> {
  return { type: 'strategic', strategic: body };
}

/**
 * A JSON patch: operations in order. A failed `test` fails the whole patch.
 *
 * @example
 * await configMaps.patch('settings', jsonPatch([{ op: 'replace', path: '/data/colour', value: 'red' }]));
 */
export function jsonPatch(operations: readonly JsonPatchOperation[]): JsonPatch {
  return { type: 'json', operations };
}

export function patchBody(patch: Patch<unknown>): unknown {
  // JavaScript callers may pass anything.
  switch (patch?.type) {
    case 'merge':
      return patch.merge;
    case 'strategic':
      return patch.strategic;
    case 'json':
      return patch.operations;
    default:
      throw new TypeError('orchplane: patch takes the result of mergePatch, strategicPatch or jsonPatch');
  }
}
