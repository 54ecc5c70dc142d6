/**
 * Validation rules that volume sources share: required fields, relative paths, file modes, number ranges.
 */
import { childPath, type FieldError, invalid, required } from '../../../../meta/field-error.js';

const MAX_MODE = 0o777;

/** One `Required value` for each of these fields that is absent or empty, in this order. */
export function requiredProblems(path: string, fields: Readonly<Record<string, string | undefined>>): FieldError[] {
  return Object.entries(fields)
    .filter(([, value]) => value === undefined || value === '')
    .map(([name]) => required(childPath(path, name)));
}

/** The path must not contain `..` as a segment. */
export function noBackstepsProblems(path: string, target: string): FieldError[] {
  return target.split('/').includes('..') ? [invalid(path, target, "must not contain '..'")] : [];
}

/** The path must be relative and must not contain `..`. */
export function descendingPathProblems(path: string, target: string): FieldError[] {
  const absolute = target.startsWith('/') ? [invalid(path, target, 'must be a relative path')] : [];
  return [...absolute, ...noBackstepsProblems(path, target)];
}

/** Like {@link descendingPathProblems}; in addition the path must not start with `..`, a prefix reserved for the kubelet. */
export function localPathProblems(path: string, target: string): FieldError[] {
  const found = descendingPathProblems(path, target);
  // A leading `../` is already reported. As in the reference server, a lone `..` is reported twice.
  if (target.startsWith('..') && !target.startsWith('../')) {
    found.push(invalid(path, target, "must not start with '..'"));
  }
  return found;
}

/** File modes. */
export function modeProblems(path: string, mode: number | undefined): FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= MAX_MODE)) return [];
  return [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}

/** Logical unit numbers (LUNs). */
export function lunProblems(path: string, lun: number): FieldError[] {
  return lun >= 0 && lun <= 255 ? [] : [invalid(path, lun, 'must be between 0 and 255, inclusive')];
}

/** Partition numbers; 0 means no partition. */
export function partitionProblems(path: string, partition: number | undefined): FieldError[] {
  if (partition === undefined || (partition >= 0 && partition <= 255)) return [];
  return [invalid(path, partition, 'must be between 1 and 255, inclusive')];
}
