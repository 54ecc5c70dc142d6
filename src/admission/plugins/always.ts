/**
 * Yes, or no, to everything. For tests of what surrounds them.
 */
import type { AdmissionPlugin } from '../types.js';
import type { AnyRequest } from './requests.js';
import { refuse } from './requests.js';

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
