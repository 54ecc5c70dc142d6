/**
 * Validates CertificateSigningRequests, in message order. Signatures are not verified: the signer checks that the
 * requester has the key.
 */

import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, duplicate, forbidden, invalid, keyPath, required } from '../../../../meta/field-error.js';
import type { ApiObject } from '../../../../meta/object.js';
import { wasSentEmpty } from '../../../../schema/empty-values.js';
import { quote, verbatim } from '../../../../text/go/go-text.js';
import { readCertificate, readCertificateRequest } from '../../../../text/x509/certificate.js';
import { firstPemBlockIn, pemBlocks } from '../../../../text/x509/pem.js';
import { append } from '../../../../util/arrays.js';
import type {
  CertificateSigningRequestCondition,
  CertificateSigningRequestSpec,
  CertificateSigningRequestStatus,
} from '../../../generated/certificates-v1.js';
import type { HookContext } from '../../../kind.js';
import { valueErrors } from '../../../shared/field-rules.js';
import { signerNameProblems } from '../../../shared/signer-name.js';

/** The supported key usages, in message order. */
const KEY_USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
] as const;

/** Validates a request as a whole. */
export function requestProblems(object: ApiObject, context: HookContext): FieldError[] {
  const { certificate = '', conditions = [] } = statusOf(object);
  const found = [...specProblems(specOf(object), context), ...conditionProblems(conditions)];
  const wrong = certificateProblem(certificate);
  if (wrong !== undefined) found.push(invalid('status.certificate', '<certificate data>', wrong));
  return found;
}

/** What an update at an endpoint may change. */
export interface AllowedChanges {
  readonly approve: boolean;
  readonly issue: boolean;
}

/** Validates a change of a request. */
export function requestUpdateProblems(next: ApiObject, live: ApiObject, powers: AllowedChanges): FieldError[] {
  const found: FieldError[] = [];
  const count = (object: ApiObject, type: string) => conditionsOfType(statusOf(object), type).length;
  const touched = (what: 'remove' | 'add', type: string) =>
    found.push(forbidden('status.conditions', `updates may not ${what} a condition of type ${quote(type)}`));
  for (const type of DECISIVE) {
    if (count(next, type) < count(live, type)) touched('remove', type);
  }
  for (const type of powers.approve ? [] : APPROVAL) {
    if (count(next, type) > count(live, type)) touched('add', type);
  }
  const before = statusOf(live).certificate ?? '';
  if ((statusOf(next).certificate ?? '') === before) return found;
  if (!powers.issue) found.push(forbidden('status.certificate', 'updates may not set certificate content'));
  else if (before !== '') {
    found.push(forbidden('status.certificate', 'updates may not modify existing certificate content'));
  }
  return found;
}

/** The conditions of a type. */
export function conditionsOfType(
  { conditions = [] }: CertificateSigningRequestStatus,
  type: string,
): CertificateSigningRequestCondition[] {
  return conditions.filter((condition) => condition.type === type);
}

/** The condition types of an approver's decision. */
export const APPROVAL: readonly string[] = ['Approved', 'Denied'];
/** Conditions whose status must be True if they are present. */
const DECISIVE: readonly string[] = [...APPROVAL, 'Failed'];

const specOf = (object: ApiObject) => object['spec'] as CertificateSigningRequestSpec;
const statusOf = (object: ApiObject) => object['status'] as CertificateSigningRequestStatus;

const MIN_SECONDS = 600;

function specProblems(spec: CertificateSigningRequestSpec, { dialect }: HookContext): FieldError[] {
  const { request, usages = [], signerName, expirationSeconds } = spec;
  const found: FieldError[] = [];
  const wrong = encodedRequestProblem(request);
  if (wrong !== undefined) found.push(invalid('spec.request', dumpRequest(spec), wrong));
  if (usages.length === 0) found.push(required('spec.usages'));
  usages.forEach((usage, index) => {
    append(found, valueErrors(keyPath('spec.usages', index), usage, KEY_USAGES));
  });
  const seen = new Set<string>();
  usages.forEach((usage, index) => {
    if (seen.has(usage)) found.push(duplicate(keyPath('spec.usages', index), usage));
    seen.add(usage);
  });
  if (signerName === dialect.key('legacy-unknown')) {
    const detail = 'the legacy signerName is not allowed via this API version';
    found.push(invalid('spec.signerName', signerName, detail));
  } else {
    append(found, signerNameProblems('spec.signerName', signerName));
  }
  if (expirationSeconds !== undefined && expirationSeconds < MIN_SECONDS) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
    found.push(invalid('spec.expirationSeconds', expirationSeconds, detail));
  }
  return found;
}

function encodedRequestProblem(encoded: string): string | undefined {
  const block = firstPemBlockIn(encoded);
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  if (readCertificateRequest(block.bytes) !== undefined) return undefined;
  return derProblem(block.bytes);
}

const PARAMETERS =
  '{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}';

/** The reference server's message for invalid DER, derived from the first element. */
function derProblem(bytes: Uint8Array): string {
  const [identifier, first] = bytes;
  if (identifier === undefined) return 'asn1: syntax error: sequence truncated';
  if (first === undefined) return 'asn1: syntax error: truncated tag or length';
  const extra = first < 0x80 ? 0 : first & 0x7f;
  if (bytes.length < 2 + extra) return 'asn1: syntax error: truncated tag or length';
  const length = extra === 0 ? first : bytes.slice(2, 2 + extra).reduce((sum, byte) => sum * 256 + byte, 0);
  const [tag, isCompound] = [identifier & 0x1f, (identifier & 0x20) !== 0];
  if (identifier >> 6 !== 0 || tag !== SEQUENCE || !isCompound) {
    const header = `{class:${identifier >> 6} tag:${tag} length:${length} isCompound:${isCompound}}`;
    return `asn1: structure error: tags don't match (${SEQUENCE} vs ${header}) ${PARAMETERS} certificateRequest @${2 + extra}`;
  }
  const end = 2 + extra + length;
  if (end > bytes.length) return 'asn1: syntax error: data truncated';
  return end < bytes.length ? 'asn1: syntax error: trailing data' : 'asn1: structure error: not a certificate request';
}

const SEQUENCE = 16;

/** Prints the request as Go's %#v. */
function dumpRequest(spec: CertificateSigningRequestSpec) {
  if (spec.request === '' && !wasSentEmpty(spec, 'request')) return verbatim('[]byte(nil)');
  const numbers = Array.from(atob(spec.request), (character) => `0x${character.charCodeAt(0).toString(16)}`);
  return verbatim(`[]byte{${numbers.join(', ')}}`);
}

function conditionProblems(conditions: readonly CertificateSigningRequestCondition[]): FieldError[] {
  const seen = new Set<string>();
  return conditions.flatMap(({ type, status }, index) => {
    const path = keyPath('status.conditions', index);
    const typePath = childPath(path, 'type');
    const found: FieldError[] = type === '' ? [required(typePath)] : [];
    const allowed = DECISIVE.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if ((status as string) === '') found.push(required(childPath(path, 'status')));
    else append(found, valueErrors(childPath(path, 'status'), status, allowed));
    if (APPROVAL.includes(type) && APPROVAL.some((other) => other !== type && seen.has(other))) {
      found.push(invalid(typePath, type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (seen.has(type)) found.push(duplicate(typePath, type));
    seen.add(type);
    return found;
  });
}

function certificateProblem(encoded: string): string | undefined {
  if (encoded === '') return undefined;
  const blocks = pemBlocks(atob(encoded));
  for (const { type, headers, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quote(type)}`;
    if (headers.size > 0) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (readCertificate(bytes) === undefined) return 'x509: malformed certificate';
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}
