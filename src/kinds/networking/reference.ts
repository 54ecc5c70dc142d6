/**
 * Validates references by group, kind and name in Ingress and IngressClass.
 */
import { childPath, type FieldError, invalid, required } from '../../meta/field-error.js';
import { dnsSubdomainProblems, pathSegmentProblems } from '../../meta/names.js';

interface GroupKindName {
  /** Null is an absent group in kinds that always include the field. */
  readonly apiGroup?: string | null | undefined;
  readonly kind: string;
  readonly name: string;
}

/** Validates a reference. */
export function groupKindNameProblems(path: string, { apiGroup, kind, name }: GroupKindName): FieldError[] {
  const group = apiGroup === undefined || apiGroup === null ? [] : dnsSubdomainProblems(apiGroup);
  return [
    ...group.map((detail) => invalid(childPath(path, 'apiGroup'), apiGroup, detail)),
    ...requiredSegmentProblems(childPath(path, 'kind'), kind, 'kind is required'),
    ...requiredSegmentProblems(childPath(path, 'name'), name, 'name is required'),
  ];
}

/** Requires a non-empty path segment. */
export function requiredSegmentProblems(path: string, value: string, detail?: string): FieldError[] {
  if (value === '') return [required(path, detail)];
  return pathSegmentProblems(value).map((detail) => invalid(path, value, detail));
}
