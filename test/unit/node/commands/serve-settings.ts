/** The settings of `orchplane serve` from its arguments. */
import { parseArguments } from '../../../../src/node/commands/parse.js';
import { readServeSettings, SERVE_OPTIONS, type ServeSettings } from '../../../../src/node/commands/serve-settings.js';

export function settingsWithFlags(...args: readonly string[]): ServeSettings {
  const input = parseArguments('serve', SERVE_OPTIONS, args);
  if (input === 'help') throw new Error('unexpected --help');
  return readServeSettings(input);
}
