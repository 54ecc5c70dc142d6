/**
 * The LeaseCandidate kind: a candidate for a Lease and its version. A controller chooses the holder.
 */

import { type FieldError, invalid, required } from '../../../meta/field-error.js';
import { configMapKeyProblems } from '../../../meta/names.js';
import { compareSemver, parseSemver, type SemanticVersion, ZERO_VERSION } from '../../../meta/semver.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type LeaseCandidateKind,
  type LeaseCandidateObject,
  leaseCandidateBase,
} from '../../generated/coordination-v1beta1.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { immutableErrors } from '../../shared/field-rules.js';
import { OLDEST_EMULATION_VERSION, strategyProblems } from '../v1/lease.js';

export interface LeaseCandidate extends LeaseCandidateObject {}

export const LeaseCandidate: LeaseCandidateKind<LeaseCandidate> = defineBuiltIn({
  ...leaseCandidateBase,
  gate: 'CoordinatedLeaderElection',
  lifecycle: { introducedIn: '1.33' },
  columns: [
    nameColumn,
    textColumn('LeaseName', 'The lease that it is a candidate for.', (object) => object.spec.leaseName),
    textColumn('BinaryVersion', 'The version of the binary of the candidate.', (object) => object.spec.binaryVersion),
    textColumn(
      'EmulationVersion',
      'The version that the candidate emulates.',
      (object) => object.spec.emulationVersion ?? '',
    ),
    ageColumn,
  ],
  strategy: {
    name: {
      // The rule allows a trailing dash, so generateName prefixes need no special case.
      validate: (name) => configMapKeyProblems(name),
    },
    update: {
      allowUnconditionalUpdate: false,
      allowCreateOnUpdate: true,
      metadataValidation: 'repeated',
      validate: validateUpdate,
    },
    create: { metadataValidation: 'repeated', validate },
  },
});

const NOT_A_VERSION = 'must be a valid semantic version';

function validate(object: LeaseCandidate): FieldError[] {
  const { leaseName, binaryVersion, emulationVersion = '', strategy } = object.spec;
  const found: FieldError[] = leaseName === '' ? [required('spec.leaseName')] : [];
  const emulated = versionOf(emulationVersion);
  if (emulationVersion !== '' && emulated === undefined) {
    found.push(invalid('spec.emulationVersion', emulationVersion, NOT_A_VERSION));
  }
  const binary = versionOf(binaryVersion);
  if (binaryVersion === '') found.push(required('spec.binaryVersion'));
  else if (binary === undefined) found.push(invalid('spec.binaryVersion', binaryVersion, NOT_A_VERSION));
  // An invalid version is compared as 0.0.0.
  const [low, high] = [emulated ?? ZERO_VERSION, binary ?? ZERO_VERSION];
  if (binaryVersion !== '' && emulationVersion !== '' && compareSemver(high, low) < 0) {
    found.push(invalid('spec.binaryVersion', binaryVersion, 'must be greater than or equal to `emulationVersion`'));
  }
  if (strategy === '') return [...found, required('spec.strategy')];
  if (strategy === OLDEST_EMULATION_VERSION && compareSemver(low, ZERO_VERSION) === 0) {
    const detail = "must be specified when `strategy` is 'OldestEmulationVersion'";
    found.push(required('spec.emulationVersion', detail));
  }
  return [...found, ...strategyProblems(strategy)];
}

function versionOf(text: string): SemanticVersion | undefined {
  return text === '' ? undefined : parseSemver(text);
}

function validateUpdate(next: LeaseCandidate, live: LeaseCandidate): FieldError[] {
  return [...validate(next), ...immutableErrors('spec.leaseName', next.spec.leaseName, live.spec.leaseName)];
}
