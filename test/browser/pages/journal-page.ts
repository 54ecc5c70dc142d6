/** The script of the page whose cluster has a journal. */
import { zodSettings } from './without-eval.js';

// Modules that create schemas must be imported after the zod settings.

import { equal, run } from './check.js';
import { journalFirst, journalLater } from './with-journal.js';

equal(zodSettings.jitless, true);
const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
void run(visit?.type === 'reload' ? journalLater : journalFirst);
