/**
 * Validates the driver name and the opaque parameters of StorageClasses and VolumeAttributesClasses.
 */
import { type FieldError, invalid, required, tooLong } from '../../meta/field-error.js';
import { byteLength, qualifiedNameProblems } from '../../meta/names.js';

const MAX_PARAMETERS = 512;
const MAX_BYTES = 256 * 1024;

/** Validates a driver name. */
export function provisionerProblems(path: string, name: string): FieldError[] {
  if (name === '') return [required(path)];
  const lower = name.toLowerCase();
  return qualifiedNameProblems(lower).map((problem) => invalid(path, lower, problem));
}

/** Validates parameters: non-empty keys and a maximum size. */
export function parameterProblems(path: string, parameters: Readonly<Record<string, string>>): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) return [tooLong(path, MAX_PARAMETERS)];
  const found: FieldError[] = [];
  let size = 0;
  for (const [key, value] of entries) {
    if (key === '') found.push(invalid(path, key, 'field can not be empty.'));
    size += byteLength(key) + byteLength(value);
  }
  if (size > MAX_BYTES) found.push(tooLong(path, MAX_BYTES));
  return found;
}
