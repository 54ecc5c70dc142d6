/**
 * Yes, or no, to everything. For tests of what surrounds them.
 */
import type { AdmissionPlugin } from '../types.js';
import type { AnyRequest } from './match.js';
import { refuse } from './refuse.js';

export const alwaysAdmit: AdmissionPlugin = Object.freeze({ name: 'AlwaysAdmit', isBuiltIn: true });

export const alwaysDeny: AdmissionPlugin = Object.freeze({
  name: 'AlwaysDeny',
  isBuiltIn: true,
  connects: true,
  mutate: deny,
  validate: deny,
});

function deny(request: AnyRequest): never {
  throw refuse(request, 'admission control is denying all modifications');
}
