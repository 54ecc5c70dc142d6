/**
 * The CertificateSigningRequest kind: a client requests a certificate, an approver decides, a signer issues it.
 * spec: Notable changes in replacements
 */

import { shownUser } from '../../../../protocol/request.js';
import { copySentEmpty } from '../../../../schema/empty-values.js';
import { humanDuration } from '../../../../text/time/time.js';
import type { Column } from '../../../columns.js';
import { defineBuiltIn } from '../../../define-kind.js';
import {
  type CertificateSigningRequestKind,
  type CertificateSigningRequestObject,
  type CertificateSigningRequestSpec,
  certificateSigningRequestBase,
} from '../../../generated/certificates-v1.js';
import type { HookContext, StrategyContext } from '../../../kind.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../../shared/common-columns.js';
import { keepLive } from '../../../shared/strategies.js';
import type { SubresourceStrategy } from '../../../subresource.js';
import { type AllowedChanges, APPROVAL, conditionsOfType, requestProblems, requestUpdateProblems } from './validate.js';

const certificateSigningRequestColumns: readonly Column<CertificateSigningRequest>[] = [
  nameColumn,
  ageColumn,
  textColumn('SignerName', 'The signer that is asked for the certificate.', (object) => object.spec.signerName || NONE),
  textColumn('Requestor', 'The user that created the request.', (object) => object.spec.username ?? ''),
  textColumn('RequestedDuration', 'The requested validity period of the certificate.', (object) =>
    durationCell(object.spec.expirationSeconds),
  ),
  textColumn('Condition', 'The state of the request.', conditionCell),
];

export interface CertificateSigningRequest extends CertificateSigningRequestObject {}

export const CertificateSigningRequest: CertificateSigningRequestKind<CertificateSigningRequest> = defineBuiltIn({
  ...certificateSigningRequestBase,
  names: { shortNames: ['csr'] },
  strategy: {
    name: {
      // Any path segment is valid.
      validate: () => [],
    },
    update: {
      validationOrder: ['create', 'metadata'],
      // The spec is immutable.
      prepare: (draft, live) => keepLive(draft, live, ['spec']),
    },
    write: { separateStatus: true, ownableFields: { except: ['spec', 'status'] }, allocate: setRequester },
    create: { validate: requestProblems },
    read: {
      selectableFields: { 'spec.signerName': (object) => object.spec.signerName },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
  subresources: {
    approval: {
      ...subresource({ approve: true, issue: false }, ['spec', 'status.certificate'], (draft, live) => {
        const { certificate } = live.status;
        const { certificate: _, ...rest } = draft.status;
        draft.status = certificate === undefined ? rest : { ...rest, certificate };
      }),
      tables: false,
    },
    status: subresource({ approve: false, issue: true }, ['spec', 'status.conditions'], keepApproval),
  },
  columns: certificateSigningRequestColumns,
});

/** Sets the requester in the spec to the user of the request. */
function setRequester(
  draft: CertificateSigningRequest,
  live: CertificateSigningRequest | undefined,
  { user }: StrategyContext,
): undefined {
  if (live !== undefined) return;
  const { request, signerName, expirationSeconds, usages } = draft.spec;
  const spec: CertificateSigningRequestSpec = {
    request,
    signerName,
    ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
    ...(usages === undefined ? {} : { usages }),
    ...shownUser(user),
  };
  copySentEmpty(draft.spec, spec);
  draft.spec = spec;
}

function subresource(
  powers: AllowedChanges,
  unclaimed: readonly string[],
  keep: (draft: CertificateSigningRequest, live: CertificateSigningRequest) => void,
): SubresourceStrategy<CertificateSigningRequest> {
  return {
    verbs: ['get', 'update', 'patch'],
    ownableFields: { except: unclaimed },
    prepare(draft, live, { now }) {
      keepLive(draft, live, ['spec']);
      keep(draft, live);
      stampConditions(draft, live, now);
    },
    metadataValidation: 'inValidate',
    validate: (next, live, context: HookContext, metadata) => [
      ...metadata.forCreate(),
      ...requestProblems(next, context),
      ...requestUpdateProblems(next, live, powers),
      ...metadata.forUpdate(),
    ],
  };
}

/**
 * Status updates cannot change the approval: if the number of conditions is equal, the live ones are restored.
 * Validation rejects other numbers.
 */
function keepApproval(draft: CertificateSigningRequest, live: CertificateSigningRequest): void {
  const status = draft.status;
  for (const type of APPROVAL) {
    const before = conditionsOfType(live.status, type);
    if (conditionsOfType(status, type).length !== before.length) continue;
    let next = 0;
    status.conditions = (status.conditions ?? []).map((condition) =>
      condition.type === type ? { ...condition, ...before[next++] } : condition,
    );
  }
}

function stampConditions(draft: CertificateSigningRequest, live: CertificateSigningRequest, now: string): void {
  const before = new Map<string, string | null | undefined>();
  for (const { type, status, lastTransitionTime } of live.status.conditions ?? []) {
    const state = `${status} ${type}`;
    if (!before.has(state)) before.set(state, lastTransitionTime);
  }
  for (const condition of draft.status.conditions ?? []) {
    condition.lastUpdateTime ??= now;
    condition.lastTransitionTime ??= before.get(`${condition.status} ${condition.type}`) ?? now;
  }
}

function durationCell(seconds: number | undefined): string {
  return seconds === undefined ? NONE : humanDuration(seconds * 1000);
}

function conditionCell(object: CertificateSigningRequest): string {
  const { conditions = [], certificate } = object.status;
  const has = (type: string) => conditions.some((condition) => condition.type === type);
  const answer = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${answer}${has('Failed') ? ',Failed' : ''}${certificate ? ',Issued' : ''}`;
}
