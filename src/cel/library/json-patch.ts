/** `jsonpatch.escapeKey`: escapes a key for use in a JSON pointer. Only mutating admission policies have it. */
import type { Library } from '../library.js';
import { STRING } from '../types.js';
import { asString, declare, global } from './declare.js';

export const JSON_PATCHES: Library = {
  name: 'jsonpatch',
  functions: [
    declare(
      'jsonpatch.escapeKey',
      global('string_jsonpatch_escapeKey_string', [STRING], STRING, (text) =>
        asString(text).replaceAll('~', '~0').replaceAll('/', '~1'),
      ),
    ),
  ],
};
