/** Finds the Chromium of this machine. Nothing is downloaded. */
import { existsSync } from 'node:fs';
import process from 'node:process';

/** The path of a Chromium; undefined if there is none. CHROME_PATH has precedence over the usual locations. */
export function findChromium(): string | undefined {
  const places = [
    process.env['CHROME_PATH'] ?? '',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/usr/bin/google-chrome-stable',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ];
  return places.find((path) => path !== '' && existsSync(path));
}
