/**
 * Entry point of the YAML reader and writer. Other folders import only this file; `test/package/layers.test.ts` checks
 * it.
 */
export { forbiddenCharacterError, normalizeBreaks, YamlSyntaxError } from './characters.js';
export { Decoder, goValue, isYamlScalar, type YamlMapping, type YamlValue } from './decode.js';
export { compareKeys } from './key-order.js';
export { parseDocument, YamlLimitError, type YamlNode } from './parse.js';
export { goScalar, jsonKey } from './scalar.js';
export { writeYaml } from './write.js';
