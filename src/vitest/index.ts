/**
 * For vitest: `test` with a cluster for each test, and matchers on `expect`. Importing it is enough for both.
 */
import { expect, Snapshots } from 'vitest';
import { matchers, type OrchplaneMatchers } from '../testing/matchers/index.js';
import { traceText } from '../testing/matchers/requests.js';

export {
  type ClusterFixtures,
  type ClusterTest,
  type ClusterTestOptions,
  clusterTest,
  type SeededTest,
  test,
} from './cluster-test.js';

interface SnapshotMatchers extends Omit<OrchplaneMatchers, 'toMatchTrace'> {
  /** A request log, or its trace, reads like this; without a text: as the file of snapshots says. */
  toMatchTrace(expected?: string): void;
}

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the parameter has to be declared as vitest declares it
  interface Matchers<T = any> extends SnapshotMatchers {}
}

expect.extend({
  ...matchers,
  toMatchTrace(received: unknown, expected?: string) {
    if (expected !== undefined) return matchers.toMatchTrace(received, expected);
    return Snapshots.toMatchSnapshot.call(this, traceText(received));
  },
});
