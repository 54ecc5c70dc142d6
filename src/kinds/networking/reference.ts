/**
 * References by group, kind and name, as Ingress and IngressClass hold them.
 */
import type { FieldError } from '../../meta/field-error.js';
import { childPath, invalid, required } from '../../meta/field-error.js';
import { dnsSubdomainProblems, pathSegmentProblems } from '../../meta/names.js';

interface GroupKindName {
  /** Null stands for none, where it must be on the wire. */
  readonly apiGroup?: string | null | undefined;
  readonly kind: string;
  readonly name: string;
}

export function groupKindNameProblems(path: string, { apiGroup, kind, name }: GroupKindName): FieldError[] {
  const group = apiGroup === undefined || apiGroup === null ? [] : dnsSubdomainProblems(apiGroup);
  return [
    ...group.map((detail) => invalid(childPath(path, 'apiGroup'), apiGroup, detail)),
    ...requiredSegmentProblems(childPath(path, 'kind'), kind, 'kind is required'),
    ...requiredSegmentProblems(childPath(path, 'name'), name, 'name is required'),
  ];
}

/** A text that must be there, and that a URL must be able to hold. */
export function requiredSegmentProblems(path: string, value: string, detail?: string): FieldError[] {
  if (value === '') return [required(path, detail)];
  return pathSegmentProblems(value).map((detail) => invalid(path, value, detail));
}
