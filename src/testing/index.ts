/**
 * For tests: time and identity under control.
 */
export { type FakeClock, fakeClock } from './fake-clock.js';
export { sequentialIds } from './sequential-ids.js';
export { type TestCluster, type TestClusterOptions, testCluster } from './test-cluster.js';
