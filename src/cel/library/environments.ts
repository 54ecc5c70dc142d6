/**
 * What every expression of the API server starts from: the standard functions and all libraries. There are two, because
 * an expression that is stored must go on working after a step back to the release before: new ones may use only what
 * that release knows, stored ones all there is.
 */
import type { Environment } from '../engine.js';
import { createEnvironment } from '../environment.js';
import { LANGUAGE_LIBRARIES } from './language.js';
import { SEMVERS } from './semver.js';
import { VALUE_LIBRARIES } from './values.js';

let forNew: Environment | undefined;
let forStored: Environment | undefined;

/** For expressions that a client sends: release 1.32. */
export function apiServerEnvironment(): Environment {
  forNew ??= createEnvironment({ libraries: [...LANGUAGE_LIBRARIES, ...VALUE_LIBRARIES] });
  return forNew;
}

/** For expressions that were accepted before: release 1.33, which adds semantic versions. */
export function storedEnvironment(): Environment {
  forStored ??= apiServerEnvironment().extend({ libraries: [SEMVERS] });
  return forStored;
}
