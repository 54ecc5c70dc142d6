/**
 * What a table shows of a CertificateSigningRequest.
 */
import { orchDialect } from '../../../../meta/dialect.js';
import type { ApiObject } from '../../../../meta/object.js';
import { humanDuration } from '../../../../meta/time.js';
import type { Column } from '../../../columns.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../../shared/workload-columns.js';
import type { CertificateSigningRequestSpec, CertificateSigningRequestStatus } from './schema.js';

const specOf = (object: ApiObject) => object['spec'] as CertificateSigningRequestSpec;
const signer = (name: string) => `"${orchDialect.key(name)}"`;

export const certificateSigningRequestColumns: readonly Column[] = [
  nameColumn,
  ageColumn,
  textColumn(
    'SignerName',
    `Requested signer for the request. It is a qualified name in the form: \`scope-hostname.io/name\`. If empty, it will be defaulted:\n 1. If it's a kubelet client certificate, it is assigned\n    ${signer('kube-apiserver-client-kubelet')}.\n 2. If it's a kubelet serving certificate, it is assigned\n    ${signer('kubelet-serving')}.\n 3. Otherwise, it is assigned ${signer('legacy-unknown')}.\nDistribution of trust for signers happens out of band. You can select on this field using \`spec.signerName\`.`,
    (object) => specOf(object).signerName || NONE,
  ),
  // The reference server describes the wrong field.
  textColumn('Requestor', 'Base64-encoded PKCS#10 CSR data', (object) => specOf(object).username ?? ''),
  textColumn(
    'RequestedDuration',
    'expirationSeconds is the requested duration of validity of the issued certificate. The certificate signer may issue a certificate with a different validity duration so a client must check the delta between the notBefore and and notAfter fields in the issued certificate to determine the actual duration.\n\nThe v1.22+ in-tree implementations of the well-known Orch signers will honor this field as long as the requested duration is not greater than the maximum duration they will honor per the --cluster-signing-duration CLI flag to the Orch controller manager.\n\nCertificate signers may not honor this field for various reasons:\n\n  1. Old signer that is unaware of the field (such as the in-tree\n     implementations prior to v1.22)\n  2. Signer whose configured maximum is shorter than the requested duration\n  3. Signer whose configured minimum is longer than the requested duration\n\nThe minimum valid value for expirationSeconds is 600, i.e. 10 minutes.',
    (object) => durationCell(specOf(object).expirationSeconds),
  ),
  textColumn('Condition', 'Conditions applied to the request, such as approval or denial.', conditionCell),
];

function durationCell(seconds: number | undefined): string {
  return seconds === undefined ? NONE : humanDuration(seconds * 1000);
}

function conditionCell(object: ApiObject): string {
  const { conditions = [], certificate } = object['status'] as CertificateSigningRequestStatus;
  const has = (type: string) => conditions.some((condition) => condition.type === type);
  const answer = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${answer}${has('Failed') ? ',Failed' : ''}${certificate ? ',Issued' : ''}`;
}
