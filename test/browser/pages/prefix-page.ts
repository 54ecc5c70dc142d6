/** The script of the page whose cluster is served below a path. */
import { run } from './check.js';
import { prefixFirst, prefixLater } from './with-prefix.js';

const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
void run(visit?.type === 'reload' ? prefixLater : prefixFirst);
