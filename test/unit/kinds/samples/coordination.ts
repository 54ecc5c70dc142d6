/** Samples of LeaseCandidates. */
import { LeaseCandidate, LeaseCandidateV1alpha2 } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const spec = { leaseName: 'l', binaryVersion: '1.2.3', strategy: 'example.com/x' };
const COMMON = {
  body: { spec },
  change: { spec: { ...spec, binaryVersion: '1.2.4' } },
  wireOrder: ['kind', 'apiVersion', 'metadata', 'spec'],
  deletedAtOnce: true,
  unconditionalUpdate: false,
  createOnUpdate: true,
} as const;

export const samples: readonly KindSample[] = [
  { kind: LeaseCandidate, ...COMMON },
  { kind: LeaseCandidateV1alpha2, ...COMMON },
];
