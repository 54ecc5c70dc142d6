/**
 * The AlwaysAdmit and AlwaysDeny plugins, for tests.
 */
import type { AdmissionPlugin } from '../types.js';
import { type AnyRequest, builtIn, forbiddenError } from './requests.js';

export const alwaysAdmit: AdmissionPlugin = /* @__PURE__ */ Object.freeze({ name: 'AlwaysAdmit', isBuiltIn: true });

export const alwaysDeny = /* @__PURE__ */ builtIn('AlwaysDeny', {
  handlesConnect: true,
  mutate: deny,
  validate: deny,
});

function deny(request: AnyRequest): never {
  throw forbiddenError(request, 'admission control is denying all modifications');
}
