/**
 * `jsonpatch.escapeKey`: a key as a step of a JSON pointer. Only mutating policies have it.
 */
import type { Library } from '../library.js';
import { STRING } from '../types.js';
import { declare, global, textOf } from './declare.js';

export const JSON_PATCHES: Library = {
  name: 'jsonpatch',
  functions: [
    declare(
      'jsonpatch.escapeKey',
      global('string_jsonpatch_escapeKey_string', [STRING], STRING, (text) =>
        textOf(text).replaceAll('~', '~0').replaceAll('/', '~1'),
      ),
    ),
  ],
};
