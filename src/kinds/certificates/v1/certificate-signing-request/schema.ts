/**
 * The fields of a CertificateSigningRequest, in wire order.
 */
import * as z from 'zod';
import {
  applyMapList,
  bytes,
  hint,
  int32,
  namedString,
  optional,
  pointer,
  timeOrNull,
  enumString,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';

/** What a certificate may be asked for; in the order in which messages list them. */
export const KEY_USAGES = [
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

export type KeyUsage = (typeof KEY_USAGES)[number];

const specShape = () => ({
  request: bytes(),
  signerName: z.string(),
  expirationSeconds: pointer(int32()),
  usages: optional(z.array(enumString<KeyUsage>('v1.KeyUsage'))),
  username: optional(z.string()),
  uid: optional(z.string()),
  groups: optional(z.array(z.string())),
  extra: optional(z.record(z.string(), hint(z.array(z.string()), { goType: 'v1.ExtraValue' }))),
});
export interface CertificateSigningRequestSpec extends Output<typeof specShape> {}
export interface CertificateSigningRequestSpecInput extends Input<typeof specShape> {}
export const certificateSigningRequestSpec: Type<CertificateSigningRequestSpec, CertificateSigningRequestSpecInput> =
  type('CertificateSigningRequestSpec', specShape);

const conditionShape = () => ({
  type: namedString('v1.RequestConditionType'),
  status: enumString<'True' | 'False' | 'Unknown'>('v1.ConditionStatus'),
  reason: optional(z.string()),
  message: optional(z.string()),
  lastUpdateTime: timeOrNull(),
  lastTransitionTime: timeOrNull(),
});
export interface CertificateSigningRequestCondition extends Output<typeof conditionShape> {}
export interface CertificateSigningRequestConditionInput extends Input<typeof conditionShape> {}
const certificateSigningRequestCondition: Type<
  CertificateSigningRequestCondition,
  CertificateSigningRequestConditionInput
> = type('CertificateSigningRequestCondition', conditionShape);

const statusShape = () => ({
  conditions: optional(applyMapList(certificateSigningRequestCondition(), 'type')),
  certificate: optional(bytes()),
});
export interface CertificateSigningRequestStatus extends Output<typeof statusShape> {}
export interface CertificateSigningRequestStatusInput extends Input<typeof statusShape> {}
export const certificateSigningRequestStatus: Type<
  CertificateSigningRequestStatus,
  CertificateSigningRequestStatusInput
> = type('CertificateSigningRequestStatus', statusShape);
