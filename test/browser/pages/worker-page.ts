/** The script of the page with a worker. */
import { run } from './check.js';
import { afterReload, firstVisit } from './with-worker.js';

const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
void run(visit?.type === 'reload' ? afterReload : firstVisit);
