/** Entry point of the YAML reader and writer. Other folders import only this file. */
export { characterFault, normalizeBreaks, YamlFault } from './characters.js';
export { Decoder, goValue, isYamlScalar, type YamlMapping, type YamlValue } from './decode.js';
export { parseDocument } from './grammar.js';
export { goScalar, jsonKey } from './scalar.js';
export { writeYaml } from './write.js';
export { compareKeys } from './write-order.js';
