/**
 * What a table shows of a CertificateSigningRequest.
 */
import type { ApiObject } from '../../../../meta/object.js';
import { humanDuration } from '../../../../text/time/time.js';
import type { Column } from '../../../columns.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../../shared/common-columns.js';
import type { CertificateSigningRequestSpec, CertificateSigningRequestStatus } from './schema.js';

const specOf = (object: ApiObject) => object['spec'] as CertificateSigningRequestSpec;

export const certificateSigningRequestColumns: readonly Column[] = [
  nameColumn,
  ageColumn,
  textColumn('SignerName', 'Who is asked to sign.', (object) => specOf(object).signerName || NONE),
  textColumn('Requestor', 'Who made the request.', (object) => specOf(object).username ?? ''),
  textColumn('RequestedDuration', 'How long the certificate shall be good for.', (object) =>
    durationCell(specOf(object).expirationSeconds),
  ),
  textColumn('Condition', 'What has become of the request.', conditionCell),
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
