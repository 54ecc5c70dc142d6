/**
 * Validates the parts of a CRD version beside its schema: subresources, printer columns and selectable fields.
 */

import type {
  CustomResourceColumnDefinition,
  CustomResourceSubresources,
  CustomResourceValidation,
  SelectableField,
} from '../../kinds/generated/apiextensions-v1.js';
import type { Dialect } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { duplicate, invalid, keyPath, required, tooMany } from '../../meta/field-error.js';
import { structuralSchemaOf } from '../structural-schema.js';
import { findField } from './field-path.js';
import { unsupportedKeyword } from './validate-structure.js';

/** Validates the subresources of a version. */
export function subresourceErrors({ scale }: CustomResourceSubresources, path: string): FieldError[] {
  if (scale === undefined) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = scale;
  return [
    ...scalePathErrors(specReplicasPath, `${path}.scale.specReplicasPath`, /^\.spec\./, '.spec'),
    ...scalePathErrors(statusReplicasPath, `${path}.scale.statusReplicasPath`, /^\.status\./, '.status'),
    ...(labelSelectorPath === ''
      ? []
      : scalePathErrors(
          labelSelectorPath,
          `${path}.scale.labelSelectorPath`,
          /^\.(spec|status)\./,
          'either .spec or .status',
        )),
  ];
}

function scalePathErrors(jsonPath: string, at: string, allowed: RegExp, where: string): FieldError[] {
  const found = pathErrors(jsonPath, at);
  if (found.length > 0 || allowed.test(jsonPath)) return found;
  return [invalid(at, jsonPath, `should be a json path under ${where}`)];
}

function pathErrors(jsonPath: string, at: string): FieldError[] {
  if (jsonPath === '') return [required(at)];
  return jsonPath.startsWith('.') ? [] : [invalid(at, jsonPath, 'must be a simple json path starting with .')];
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];

/** Validates one printer column. */
export function columnErrors(column: CustomResourceColumnDefinition, path: string, dialect: Dialect): FieldError[] {
  const { printerColumnFormats: formats } = dialect.rules;
  const { name, type, format = '', jsonPath } = column;
  const found: FieldError[] = name === '' ? [required(`${path}.name`)] : [];
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  if (type === '') found.push(required(`${path}.type`, types));
  else if (!COLUMN_TYPES.includes(type)) found.push(invalid(`${path}.type`, type, types));
  if (format !== '' && !formats.includes(format)) {
    found.push(invalid(`${path}.format`, format, `must be one of ${formats.join(',')}`));
  }
  // The reference server uses the Go field name here.
  // upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go ValidateCustomResourceColumnDefinition
  return [...found, ...pathErrors(jsonPath, `${path}.JSONPath`)];
}

const MAX_SELECTABLE_FIELDS = 8;
const SELECTABLE_TYPES = ['string', 'boolean', 'integer'];

/**
 * Validates the selectable fields of one version, or of all versions if they share them. Then the schema is shared too.
 */
export function selectableFieldErrors(
  part: { readonly selectableFields?: readonly SelectableField[]; readonly schema?: CustomResourceValidation },
  path: string,
  dialect: Dialect,
): FieldError[] {
  const { selectableFields: fields = [], schema } = part;
  const at = `${path}.selectableFields`;
  if (fields.length === 0) return [];
  const isCommon = path === 'spec';
  if (isCommon && schema === undefined)
    return [invalid(at, '', 'selectableFields may only be set when validations.schema is included')];
  if (!isCommon && schema?.openAPIV3Schema === undefined)
    return [invalid(at, '', 'selectableFields may only be set when version.schema.openAPIV3Schema is not included')];
  const root = structuralSchemaOf(schema?.openAPIV3Schema ?? {}, dialect);
  const unsupported = unsupportedKeyword(root, dialect.extension);
  const found: FieldError[] = [];
  if (unsupported !== undefined) found.push(invalid(`${path}.schema.openAPIV3Schema`, '', unsupported));
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of fields.entries()) {
    const fieldPath = `${keyPath(at, index)}.jsonPath`;
    if (jsonPath === '') {
      found.push(required(fieldPath));
      continue;
    }
    const field = findField(root, jsonPath, { brackets: false });
    if (typeof field === 'string') {
      found.push(invalid(fieldPath, jsonPath, `is an invalid path: ${field}`));
      continue;
    }
    if (field.names[0] === 'metadata') found.push(invalid(fieldPath, jsonPath, 'must not point to fields in metadata'));
    if (!SELECTABLE_TYPES.includes(field.schema.type)) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      found.push(invalid(fieldPath, jsonPath, detail));
    }
    const key = field.names.join('.');
    if (seen.has(key)) found.push(duplicate(fieldPath, jsonPath));
    seen.add(key);
  }
  return seen.size > MAX_SELECTABLE_FIELDS ? [...found, tooMany(at, seen.size, MAX_SELECTABLE_FIELDS)] : found;
}
