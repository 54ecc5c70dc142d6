/**
 * The libraries of values that every expression of the API server may use, in the order in which they came. Semantic
 * versions came last: only stored expressions may use them, see `environments.ts`.
 */
import type { Library } from '../library.js';
import { AUTHORIZER_SELECTORS, AUTHORIZERS } from './authorizer.js';
import { CIDRS } from './cidr.js';
import { COSTS } from './costs.js';
import { IPS } from './ip.js';
import { NAMED_FORMATS } from './named-format.js';
import { QUANTITIES } from './quantity.js';
import { URLS } from './url.js';

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
