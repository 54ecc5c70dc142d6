/** The script of the page whose cluster is there again. */
import { zodSettings } from './without-eval.js';

// What makes schemas comes after the settings.

import { equal, run } from './check.js';
import { journalFirst, journalLater } from './with-journal.js';

equal(zodSettings.jitless, true);
const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
void run(visit?.type === 'reload' ? journalLater : journalFirst);
