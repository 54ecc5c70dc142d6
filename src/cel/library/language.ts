/**
 * The libraries that add to the language what has nothing to do with an API, in the order of the reference. `BIND` is
 * none of them: the reference server has no `cel.bind`.
 */
import type { Library } from '../library.js';
import { LISTS } from './lists.js';
import { OPTIONALS_LIBRARY } from './optional.js';
import { REGEX } from './regex.js';
import { SETS } from './sets.js';
import { STRINGS } from './strings.js';
import { TWO_VARIABLE_COMPREHENSIONS } from './two-variables.js';

export const LANGUAGE_LIBRARIES: readonly Library[] = [
  REGEX,
  LISTS,
  OPTIONALS_LIBRARY,
  STRINGS,
  SETS,
  TWO_VARIABLE_COMPREHENSIONS,
];

export { BIND } from './bind.js';
