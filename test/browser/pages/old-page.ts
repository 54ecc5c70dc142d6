/** The script of the page without a worker, for an old browser and with zod's default settings. */
import { run } from './check.js';
import { inPage } from './in-page.js';

void run(inPage);
