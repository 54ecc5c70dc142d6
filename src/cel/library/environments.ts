/**
 * What every expression of the API server starts from: the standard functions and all libraries. There are two, because
 * an expression that is stored must go on working after a step back to the release before: new ones may use only what
 * that release knows, stored ones all there is.
 */
import type { Environment } from '../engine.js';
import { createEnvironment } from '../environment.js';
import type { Library } from '../library.js';
import { AUTHORIZER_SELECTORS, AUTHORIZERS } from './authorizer.js';
import { COSTS } from './costs.js';
import { CIDRS, IPS } from './ip-addresses.js';
import { LISTS, SETS } from './lists.js';
import { NAMED_FORMATS } from './named-format.js';
import { OPTIONALS_LIBRARY } from './optional.js';
import { QUANTITIES } from './quantity.js';
import { SEMVERS } from './semver.js';
import { REGEX, STRINGS } from './strings.js';
import { TWO_VARIABLE_COMPREHENSIONS } from './two-variables.js';
import { URLS } from './url.js';

export const LANGUAGE_LIBRARIES: readonly Library[] = [
  REGEX,
  LISTS,
  OPTIONALS_LIBRARY,
  STRINGS,
  SETS,
  TWO_VARIABLE_COMPREHENSIONS,
];

export const VALUE_LIBRARIES: readonly Library[] = [
  URLS,
  AUTHORIZERS,
  QUANTITIES,
  IPS,
  CIDRS,
  NAMED_FORMATS,
  AUTHORIZER_SELECTORS,
  COSTS,
];

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
