/**
 * The encodings, in the order messages list them. To add one, write its file and add one line here.
 */
import type { Codec } from './codec.js';
import { jsonCodec } from './json.js';

export const codecs: readonly Codec[] = [jsonCodec];
