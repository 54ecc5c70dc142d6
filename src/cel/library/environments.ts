/**
 * The base environments of API server expressions: the standard library and all extension libraries. There are two
 * because stored expressions must keep working after a rollback to the previous release: new expressions may use only
 * what that release supports, stored ones everything.
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

/**
 * General-purpose extension libraries in the order of the reference server. `BIND` is not among them: the API server
 * has no `cel.bind`.
 */
export const LANGUAGE_LIBRARIES: readonly Library[] = [
  REGEX,
  LISTS,
  OPTIONALS_LIBRARY,
  STRINGS,
  SETS,
  TWO_VARIABLE_COMPREHENSIONS,
];

/**
 * Libraries of Kubernetes values for all API server expressions, in the order of their introduction. Semantic versions
 * are the newest; only stored expressions may use them.
 */
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

let newEnvironment: Environment | undefined;
let extendedEnvironment: Environment | undefined;

/** The environment for new expressions (upstream: environment.NewExpressions): release 1.32. */
export function newExpressionsEnvironment(): Environment {
  newEnvironment ??= createEnvironment({ libraries: [...LANGUAGE_LIBRARIES, ...VALUE_LIBRARIES] });
  return newEnvironment;
}

/** The environment for stored expressions (upstream: environment.StoredExpressions): release 1.33 adds semantic versions. */
export function storedExpressionsEnvironment(): Environment {
  extendedEnvironment ??= newExpressionsEnvironment().extend({ libraries: [SEMVERS] });
  return extendedEnvironment;
}
