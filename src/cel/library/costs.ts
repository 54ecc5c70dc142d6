/**
 * What the functions of the extension libraries cost, before and after: of strings, lists, regular expressions and the
 * values of this folder. A library of its own that declares nothing, because costs go by the name of a function,
 * whoever declared it.
 */
import type { Library } from '../library.js';
import { estimateCall } from './costs-estimate.js';
import { priceCall } from './costs-price.js';

export const COSTS: Library = { name: 'costs', estimate: estimateCall, price: priceCall };
