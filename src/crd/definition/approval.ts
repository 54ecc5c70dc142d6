/**
 * The API approval policy: a CRD in a protected group (of the service's own domain) must have an annotation that links
 * the approval or states that there is none.
 */
import type { Dialect } from '../../meta/dialect.js';
import { kubernetesDialect, serviceGroup } from '../../meta/dialect.js';
import { quote } from '../../text/go/go-text.js';

/** The state of the approval annotation. */
export type Approval = 'missing' | 'bypassed' | 'approved' | 'invalid';

/** Parses the approval annotation. */
export function approvalOf(text: string): Approval {
  if (text === '') return 'missing';
  if (text.startsWith('unapproved')) return 'bypassed';
  return /^[a-zA-Z][-a-zA-Z0-9+.]*:\/\/[^/?#\s]+[^\s]*$/.test(text) ? 'approved' : 'invalid';
}

/** The annotation key: a domain without a path. */
export function approvalAnnotation(dialect: Dialect): string {
  return dialect.subkey('api-approved', '').slice(0, -1);
}

/** Reports whether a group belongs to the service's own domain. */
export function isProtectedGroup(group: string, dialect: Dialect): boolean {
  const domains = [dialect.group(serviceGroup('x')).slice(2), dialect.key('').slice(0, -1)];
  return domains.some((domain) => group === domain || group.endsWith(`.${domain}`));
}

/** The message for validation errors and conditions. */
export function approvalMessage(text: string, dialect: Dialect): string {
  const rule = `protected groups must have approval annotation ${quote(approvalAnnotation(dialect))}`;
  // The link is the same in both dialects.
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
