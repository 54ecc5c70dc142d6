/** The script of the page without a worker. */
import { zodSettings } from './without-eval.js';

// Modules that create schemas must be imported after the zod settings.

import { equal, run } from './check.js';
import { inPage } from './in-page.js';

equal(zodSettings.jitless, true);
void run(inPage);
