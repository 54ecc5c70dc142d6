/**
 * Validates names in the resource group: pools, devices, requests, attributes.
 */
import { type FieldError, fieldError, invalid, required, tooLong } from '../../../meta/field-error.js';
import type { NameProblems } from '../../../meta/names.js';
import { byteLength, dnsLabelProblems, dnsSubdomainProblems, patternMessage } from '../../../meta/names.js';
import { driverNameProblems } from '../../core/v1/pod-spec/local-source-rules.js';
import type { DeviceClaim } from '../../generated/resource-v1beta2.js';

/** Requires a DNS label: names of devices, requests, counters and counter sets. */
export function labelNameProblems(path: string, name: string): FieldError[] {
  return nameErrors(path, name, dnsLabelProblems);
}

/** Validates a node name. */
export function nodeNameProblems(path: string, name: string): FieldError[] {
  return nameErrors(path, name, dnsSubdomainProblems);
}

/** Validates the name of a device class. */
export function classNameProblems(path: string, name: string): FieldError[] {
  return name === '' ? [required(path)] : nameErrors(path, name, dnsSubdomainProblems);
}

/** Reports every problem of a name as an error at its path. */
export function nameErrors(path: string, name: string, problems: NameProblems): FieldError[] {
  return problems(name).map((problem) => invalid(path, name, problem));
}

const MAX_POOL_NAME = 253;

/** Requires DNS subdomains separated by slashes. */
export function poolNameProblems(path: string, name: string): FieldError[] {
  if (name === '') return [required(path)];
  return [
    ...(byteLength(name) > MAX_POOL_NAME ? [tooLong(path, MAX_POOL_NAME)] : []),
    ...name.split('/').flatMap((part) => nameErrors(path, part, dnsSubdomainProblems)),
  ];
}

const MAX_DOMAIN = 63;
const MAX_IDENTIFIER = 32;

/** The maximum length of `domain/name`. */
export const MAX_QUALIFIED_NAME: number = MAX_DOMAIN + 1 + MAX_IDENTIFIER;

/** Validates the name of an attribute or capacity: an identifier with an optional `domain/`. */
export function qualifiedNameProblems(path: string, name: string): FieldError[] {
  if (name === '') return [required(path, 'name required')];
  const parts = name.split('/');
  const [first = '', second = ''] = parts;
  if (parts.length === 1) return identifierProblems(path, first);
  // The reference server accepts names with more than one slash.
  if (parts.length > 2) return [];
  return [
    ...(first === '' ? [required(path, 'the domain must not be empty')] : driverNameProblems(path, first)),
    ...(second === '' ? [required(path, 'the name must not be empty')] : identifierProblems(path, second)),
  ];
}

/** Requires a name with a domain. */
export function fullyQualifiedNameProblems(path: string, name: string): FieldError[] {
  const found = qualifiedNameProblems(path, name);
  if (name !== '' && !name.includes('/')) found.push(invalid(path, name, 'must include a domain'));
  return found;
}

const NOT_IDENTIFIER = /[^A-Za-z0-9_]|^[0-9]|^$/;

function identifierProblems(path: string, name: string): FieldError[] {
  const found: FieldError[] = [];
  if (byteLength(name) > MAX_IDENTIFIER) found.push(tooLong(path, MAX_IDENTIFIER));
  if (NOT_IDENTIFIER.test(name)) {
    const detail = patternMessage(
      "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
      '[A-Za-z_][A-Za-z0-9_]*',
      ['my_name', 'MY_NAME', 'MyName'],
    );
    found.push(fieldError('typeInvalid', path, { value: name, detail }));
  }
  return found;
}

/** The names that refer to a claim's requests: `request`, `request/subrequest`. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

/** The request names of a claim. */
export function requestNamesOf({ requests }: DeviceClaim): RequestNames {
  return new Map(
    (requests ?? []).map(({ name, firstAvailable = [] }) => [
      name,
      new Set(firstAvailable.map((request) => request.name)),
    ]),
  );
}

const NOT_A_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** Requires the name of an existing request. */
export function requestReferenceProblems(path: string, reference: string, names: RequestNames): FieldError[] {
  const parts = reference.split('/');
  const missing = invalid(path, reference, NOT_A_REQUEST);
  if (parts.length > 2) return [missing];
  const [request = '', subrequest] = parts;
  const subrequests = names.get(request);
  const isThere = subrequests !== undefined && (subrequest === undefined || subrequests.has(subrequest));
  return [...parts.flatMap((part) => labelNameProblems(path, part)), ...(isThere ? [] : [missing])];
}
