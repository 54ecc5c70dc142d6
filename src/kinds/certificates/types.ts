/**
 * The types that objects of the group are made of, by the names of the API.
 */
export type {
  CertificateSigningRequestCondition,
  CertificateSigningRequestConditionInput,
  CertificateSigningRequestSpec,
  CertificateSigningRequestSpecInput,
  CertificateSigningRequestStatus,
  CertificateSigningRequestStatusInput,
} from './v1/certificate-signing-request/schema.js';
