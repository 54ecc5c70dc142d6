/**
 * Rules that the sources of volumes share: paths that stay inside, file modes, ranges.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, invalid, required } from '../../../../meta/field-error.js';

const MAX_MODE = 0o777;

/** One `Required value` for each of these fields that is empty, in this order. */
export function requiredProblems(path: string, fields: Readonly<Record<string, string | undefined>>): FieldError[] {
  return Object.entries(fields)
    .filter(([, value]) => value === undefined || value === '')
    .map(([name]) => required(childPath(path, name)));
}

/** A path must not climb, wherever it starts. */
export function noBackstepsProblems(path: string, target: string): FieldError[] {
  return target.split('/').includes('..') ? [invalid(path, target, "must not contain '..'")] : [];
}

/** A path that leads down from where it is used. */
export function descendingPathProblems(path: string, target: string): FieldError[] {
  const absolute = target.startsWith('/') ? [invalid(path, target, 'must be a relative path')] : [];
  return [...absolute, ...noBackstepsProblems(path, target)];
}

/** The same for files that are written next to others of ours, whose names begin with two dots. */
export function localPathProblems(path: string, target: string): FieldError[] {
  const found = descendingPathProblems(path, target);
  // A leading `../` has been reported; a lone `..` is reported twice.
  if (target.startsWith('..') && !target.startsWith('../')) {
    found.push(invalid(path, target, "must not start with '..'"));
  }
  return found;
}

export function modeProblems(path: string, mode: number | undefined): FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= MAX_MODE)) return [];
  return [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}

/** Numbers of logical units. */
export function lunProblems(path: string, lun: number): FieldError[] {
  return lun >= 0 && lun <= 255 ? [] : [invalid(path, lun, 'must be between 0 and 255, inclusive')];
}

/** Numbers of partitions; 0 stands for none. */
export function partitionProblems(path: string, partition: number | undefined): FieldError[] {
  if (partition === undefined || (partition >= 0 && partition <= 255)) return [];
  return [invalid(path, partition, 'must be between 1 and 255, inclusive')];
}
