/**
 * Versions whose rules are those of the form in which their objects are stored: what a rule looks at is put into that
 * form first, and what a step changes is put there and back.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { copyJson } from '../../util/json.js';
import type { Strategy } from '../kind.js';

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
export function throughStored(stored: Strategy, conversion: Conversion): Partial<Strategy> {
  const shown = (object: ApiObject, dialect: Dialect) => inStoredForm(object, conversion, dialect);
  const changed = (draft: DraftObject, dialect: Dialect, change: () => void): void => {
    conversion.toStored(draft, dialect);
    change();
    conversion.fromStored(draft, dialect);
  };
  const { defaults, prepareForCreate, prepareForUpdate, validate, validateUpdate, warnings } = stored;
  const through: { -readonly [Hook in keyof Strategy]?: Strategy[Hook] } = {};
  // Only what is there: the way to the stored form and back may lose what a version says twice.
  if (defaults !== undefined) {
    through.defaults = (draft, context) => changed(draft, context.dialect, () => defaults(draft, context));
  }
  if (prepareForCreate !== undefined) {
    through.prepareForCreate = (draft, context) =>
      changed(draft, context.dialect, () => prepareForCreate(draft, context));
  }
  if (prepareForUpdate !== undefined) {
    through.prepareForUpdate = (draft, live, context) =>
      changed(draft, context.dialect, () => prepareForUpdate(draft, shown(live, context.dialect), context));
  }
  if (validate !== undefined) {
    through.validate = (object, context, live) =>
      validate(shown(object, context.dialect), context, live && shown(live, context.dialect));
  }
  if (validateUpdate !== undefined) {
    through.validateUpdate = (next, live, context, metadata) =>
      validateUpdate(shown(next, context.dialect), shown(live, context.dialect), context, metadata);
  }
  if (warnings !== undefined) {
    through.warnings = (object, live, context) =>
      warnings(shown(object, context.dialect), live && shown(live, context.dialect), context);
  }
  return through;
}
