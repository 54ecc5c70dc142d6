/**
 * The ClusterTrustBundle kind: trusted CA certificates, of a signer or without one. spec: ClusterTrustBundle
 */

import { serviceGroup } from '../../../meta/dialect.js';
import { type FieldError, invalid, tooLong } from '../../../meta/field-error.js';
import { byteLength, maskTrailingDash } from '../../../meta/names.js';
import { readCertificate } from '../../../text/x509/certificate.js';
import { type PemBlock, pemBlocks } from '../../../text/x509/pem.js';
import { anotherVersion, defineBuiltIn } from '../../define-kind.js';
import {
  type ClusterTrustBundleKind,
  type ClusterTrustBundleObject,
  clusterTrustBundleBase,
} from '../../generated/certificates-v1beta1.js';
import type { HookContext, NameValidator } from '../../kind.js';
import { NONE, nameColumn, textColumn } from '../../shared/common-columns.js';
import { immutableErrors } from '../../shared/field-rules.js';
import { signerNameProblems, trustBundleNameProblems } from '../../shared/signer-name.js';

export interface ClusterTrustBundle extends ClusterTrustBundleObject {}

/** The required prefix of the name depends on the signer. */
const requireSignerPrefix: NameValidator = (name, isPrefix, object) => {
  const { spec } = (object ?? {}) as Partial<ClusterTrustBundle>;
  const signerName = spec?.signerName ?? '';
  return trustBundleNameProblems(isPrefix ? maskTrailingDash(name) : name, signerName);
};

export const ClusterTrustBundle: ClusterTrustBundleKind<ClusterTrustBundle> = defineBuiltIn({
  ...clusterTrustBundleBase,
  gate: 'ClusterTrustBundle',
  lifecycle: { introducedIn: '1.33' },
  strategy: {
    name: { validate: requireSignerPrefix },
    update: {
      allowUnconditionalUpdate: false,
      validationOrder: ['create', 'metadata', 'update'],
      validate: signerChange,
    },
    create: { validate: bundleProblems },
    read: {
      selectableFields: { 'spec.signerName': (object) => object.spec.signerName ?? '' },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
  columns: [
    nameColumn,
    textColumn('SignerName', 'The signer that the bundle belongs to.', (object) => object.spec.signerName ?? NONE),
  ],
});

export const ClusterTrustBundleV1alpha1: ClusterTrustBundleKind<ClusterTrustBundle> = anotherVersion(
  ClusterTrustBundle,
  {
    apiVersion: `${serviceGroup('certificates')}/v1alpha1`,
    lifecycle: { introducedIn: '1.27' },
    ownTypes: ['ClusterTrustBundleSpec'],
  },
);

function signerChange(next: ClusterTrustBundle, live: ClusterTrustBundle): readonly FieldError[] {
  return immutableErrors('spec.signerName', next.spec.signerName ?? '', live.spec.signerName ?? '');
}

function bundleProblems(object: ClusterTrustBundle, _context: HookContext, live?: ClusterTrustBundle): FieldError[] {
  const { signerName = '', trustBundle } = object.spec;
  // An unchanged bundle is not validated again.
  const isNew = live === undefined || trustBundle !== live.spec.trustBundle;
  return [
    ...(signerName === '' ? [] : signerNameProblems('spec.signerName', signerName)),
    ...(isNew ? trustBundleProblems(trustBundle) : []),
  ];
}

const MAX_BUNDLE_BYTES = 1024 * 1024;
const PATH = 'spec.trustBundle';

function trustBundleProblems(bundle: string): FieldError[] {
  if (byteLength(bundle) > MAX_BUNDLE_BYTES) return [tooLong(PATH, MAX_BUNDLE_BYTES)];
  const blocks = pemBlocks(bundle);
  const wrong = blocks.flatMap((block, index) => {
    const what = anchorProblem(block);
    return what === undefined ? [] : [bundleProblem(`entry ${index} ${what}`)];
  });
  if (wrong.length > 0) return wrong;
  if (blocks.length === 0) return [bundleProblem('at least one trust anchor must be provided')];
  return repeats(blocks).map((indices) => bundleProblem(`duplicate trust anchor (indices [${indices.join(' ')}])`));
}

function anchorProblem({ type: blockType, headers, bytes }: PemBlock): string | undefined {
  if (blockType !== 'CERTIFICATE') return `has bad block type: ${blockType}`;
  if (headers.size > 0) return 'has PEM block headers';
  const certificate = readCertificate(bytes);
  if (certificate === undefined) return 'does not parse as X.509';
  if (!certificate.ca) return 'does not have the CA bit set';
  return certificate.basicConstraintsValid ? undefined : 'has invalid basic constraints';
}

function bundleProblem(detail: string): FieldError {
  return invalid(PATH, '<value omitted>', detail);
}

/** The indices of every block that occurs more than once. */
function repeats(blocks: readonly PemBlock[]): number[][] {
  const places = new Map<string, number[]>();
  for (const [index, { bytes }] of blocks.entries()) {
    const key = bytes.join(' ');
    places.set(key, [...(places.get(key) ?? []), index]);
  }
  return [...places.values()].filter((indices) => indices.length > 1);
}
