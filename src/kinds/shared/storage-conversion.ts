/**
 * Runs the strategy of a storage version on objects of another version: validation hooks receive converted copies,
 * drafts are converted, changed and converted back.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { copyJson } from '../../util/json.js';
import type { HookContext, MetadataErrors, Strategy, StrategyDefinition } from '../kind.js';

/**
 * Conversion to and from the storage version, in place. It changes only the draft's top level and its metadata, because
 * deeper values may be shared with the live object.
 */
export interface Conversion {
  readonly toStored: (draft: DraftObject, dialect: Dialect) => void;
  readonly fromStored: (draft: DraftObject, dialect: Dialect) => void;
}

/** A mutable copy of an object. */
export function copyAsDraft(object: ApiObject): DraftObject {
  return copyJson(object) as unknown as DraftObject;
}

/** A converted copy of an object. `Stored` is the type of the storage version. */
export function toStorageVersion<Stored = unknown>(
  object: ApiObject,
  { toStored }: Pick<Conversion, 'toStored'>,
  dialect: Dialect,
): ApiObject & Stored {
  // Deeper values stay the same objects, so that it remains known which empty lists the client sent.
  const draft = { ...object, metadata: copyJson(object.metadata) };
  toStored(draft as unknown as DraftObject, dialect);
  return draft as unknown as ApiObject & Stored;
}

/**
 * The hooks of the storage version's strategy, for a version with other field names.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function storageVersionHooks(stored: Strategy, conversion: Conversion): StrategyDefinition {
  const converted = (object: ApiObject, dialect: Dialect) => toStorageVersion(object, conversion, dialect);
  const changed = (draft: DraftObject, dialect: Dialect, change: () => void): void => {
    conversion.toStored(draft, dialect);
    change();
    conversion.fromStored(draft, dialect);
  };
  const { defaults } = stored.decode;
  const { warnings } = stored.write;
  const { prepare: prepareForCreate, validate } = stored.create;
  const { prepare: prepareForUpdate, validate: validateUpdate } = stored.update;
  // Absent hooks stay absent: converting to the storage version and back can lose data that a version repeats.
  return {
    decode: {
      ...(defaults && {
        defaults: (draft: DraftObject, context: HookContext) =>
          changed(draft, context.dialect, () => defaults(draft, context)),
      }),
    },
    create: {
      ...(prepareForCreate && {
        prepare: (draft: DraftObject, context: HookContext) =>
          changed(draft, context.dialect, () => prepareForCreate(draft, context)),
      }),
      ...(validate && {
        validate: (object: ApiObject, context: HookContext, live?: ApiObject) =>
          validate(converted(object, context.dialect), context, live && converted(live, context.dialect)),
      }),
    },
    update: {
      ...(prepareForUpdate && {
        prepare: (draft: DraftObject, live: ApiObject, context: HookContext) =>
          changed(draft, context.dialect, () => prepareForUpdate(draft, converted(live, context.dialect), context)),
      }),
      ...(validateUpdate && {
        validate: (next: ApiObject, live: ApiObject, context: HookContext, metadata: MetadataErrors) =>
          validateUpdate(converted(next, context.dialect), converted(live, context.dialect), context, metadata),
      }),
    },
    write: {
      ...(warnings && {
        warnings: (object: ApiObject, live: ApiObject | undefined, context: HookContext) =>
          warnings(converted(object, context.dialect), live && converted(live, context.dialect), context),
      }),
    },
  };
}
