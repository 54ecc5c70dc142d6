/** The same for an old browser, and with zod as it comes. */
import { run } from './check.js';
import { inPage } from './in-page.js';

void run(inPage);
