/**
 * Groups of the service's own name are not for everybody: a definition in one says where it was approved, or that it was
 * not.
 */
import type { Dialect } from '../../meta/dialect.js';
import { kubernetesDialect, serviceGroup } from '../../meta/dialect.js';
import { quote } from '../../text/go/go-text.js';

export type Approval = 'missing' | 'bypassed' | 'approved' | 'invalid';

export function approvalOf(text: string): Approval {
  if (text === '') return 'missing';
  if (text.startsWith('unapproved')) return 'bypassed';
  return /^[a-zA-Z][-a-zA-Z0-9+.]*:\/\/[^/?#\s]+[^\s]*$/.test(text) ? 'approved' : 'invalid';
}

/** The name of the annotation: a domain without anything after it. */
export function approvalAnnotation(dialect: Dialect): string {
  return dialect.subkey('api-approved', '').slice(0, -1);
}

export function isProtectedGroup(group: string, dialect: Dialect): boolean {
  const domains = [dialect.group(serviceGroup('x')).slice(2), dialect.key('').slice(0, -1)];
  return domains.some((domain) => group === domain || group.endsWith(`.${domain}`));
}

/** What to say about an approval, in refusals and in conditions. */
export function approvalMessage(text: string, dialect: Dialect): string {
  const rule = `protected groups must have approval annotation ${quote(approvalAnnotation(dialect))}`;
  // One address in both dialects.
  const link = `see https://github.com/${kubernetesDialect.name}/enhancements/pull/1111`;
  switch (approvalOf(text)) {
    case 'missing':
      return `${rule}, ${link}`;
    case 'invalid':
      return `${rule} with either a URL or a reason starting with "unapproved", ${link}`;
    case 'bypassed':
      return `not approved: ${quote(text)}`;
    case 'approved':
      return `approved in ${text}`;
  }
}
