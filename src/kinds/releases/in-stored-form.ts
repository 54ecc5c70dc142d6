/**
 * Versions whose rules are those of the form in which their objects are stored: what a rule looks at is put into that
 * form first, and what a step changes is put there and back.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { copyJson } from '../../util/json.js';
import type { MetadataErrors, Strategy, StrategyDefinition, WriteContext } from '../kind.js';

/**
 * The way to the stored form and back, in place. Only the draft itself is changed, and its metadata: what is below may
 * belong to the live object.
 */
export interface Conversion {
  readonly toStored: (draft: DraftObject, dialect: Dialect) => void;
  readonly fromStored: (draft: DraftObject, dialect: Dialect) => void;
}

export function inStoredForm(object: ApiObject, { toStored }: Conversion, dialect: Dialect): ApiObject {
  const draft = copyJson(object) as unknown as DraftObject;
  toStored(draft, dialect);
  return draft as unknown as ApiObject;
}

/**
 * What the strategy of the stored form says about fields, for a version that names some of them otherwise.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function throughStored(stored: Strategy, conversion: Conversion): StrategyDefinition {
  const converted = (object: ApiObject, dialect: Dialect) => inStoredForm(object, conversion, dialect);
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
        defaults: (draft: DraftObject, context: WriteContext) =>
          changed(draft, context.dialect, () => defaults(draft, context)),
      }),
    },
    create: {
      ...(prepareForCreate && {
        prepare: (draft: DraftObject, context: WriteContext) =>
          changed(draft, context.dialect, () => prepareForCreate(draft, context)),
      }),
      ...(validate && {
        validate: (object: ApiObject, context: WriteContext, live?: ApiObject) =>
          validate(converted(object, context.dialect), context, live && converted(live, context.dialect)),
      }),
    },
    update: {
      ...(prepareForUpdate && {
        prepare: (draft: DraftObject, live: ApiObject, context: WriteContext) =>
          changed(draft, context.dialect, () => prepareForUpdate(draft, converted(live, context.dialect), context)),
      }),
      ...(validateUpdate && {
        validate: (next: ApiObject, live: ApiObject, context: WriteContext, metadata: MetadataErrors) =>
          validateUpdate(converted(next, context.dialect), converted(live, context.dialect), context, metadata),
      }),
    },
    write: {
      ...(warnings && {
        warnings: (object: ApiObject, live: ApiObject | undefined, context: WriteContext) =>
          warnings(converted(object, context.dialect), live && converted(live, context.dialect), context),
      }),
    },
  };
}
