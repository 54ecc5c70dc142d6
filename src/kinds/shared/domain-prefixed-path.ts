/**
 * Names of controllers and the like: a domain, a slash, and a path.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid, required } from '../../meta/field-error.js';
import { dnsSubdomainProblems, patternMessage } from '../../meta/names.js';

const PATH_PATTERN = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const NOT_PATH = /[^A-Za-z0-9/\-._~%!$&'()*+,;=:]/;

/** `example.com/controller`. */
export function domainPrefixedPathProblems(path: string, value: string): FieldError[] {
  if (value === '') return [required(path)];
  const slash = value.indexOf('/');
  const host = value.slice(0, Math.max(slash, 0));
  const rest = value.slice(slash + 1);
  if (host === '' || rest === '') {
    return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const found = dnsSubdomainProblems(host).map((detail) => invalid(path, host, detail));
  if (NOT_PATH.test(rest)) found.push(invalid(path, rest, patternMessage('Invalid path', PATH_PATTERN, [])));
  return found;
}
