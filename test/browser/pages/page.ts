/** The script of the page without a worker. */
import { zodSettings } from './without-eval.js';

// What makes schemas comes after the settings.

import { equal, run } from './check.js';
import { inPage } from './in-page.js';

equal(zodSettings.jitless, true);
void run(inPage);
