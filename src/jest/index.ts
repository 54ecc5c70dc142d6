/**
 * orchplane/jest: the orchplane matchers on `expect` of jest. Importing the module registers them, and declares them for
 * `@jest/globals` and for the global `expect` of `@types/jest`.
 */
import { expect } from '@jest/globals';
import { matchers, type SnapshotMatchers, traceText } from '../testing/matchers/index.js';

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>> extends SnapshotMatchers<R> {}
}

declare global {
  namespace jest {
    interface Matchers<R> extends SnapshotMatchers<R> {}
  }
}

expect.extend({
  ...matchers,
  toMatchTrace(received: unknown, expected?: string) {
    if (expected !== undefined) return matchers.toMatchTrace(received, expected);
    // Throws for a mismatch.
    expect(traceText(received)).toMatchSnapshot();
    return { pass: true, message: () => 'the trace matches the snapshot; .not needs a text' };
  },
});
