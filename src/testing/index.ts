/**
 * orchplane/testing: a controlled clock and identifiers, faults, request logs, seeded runs, captures, and matchers for any
 * test runner.
 */

export { type UntilAbsent, type UntilCondition, type UntilPresent, until } from '../client/until.js';
export { parseCapture } from '../manifests/parse-capture.js';
export { type Diffable, type FormatDiffOptions, formatDiff } from '../meta/format-diff.js';
export {
  type CapturedCluster,
  type CaptureOptions,
  captureCluster,
  captureJson,
  captureYaml,
} from './capture.js';
export { type DiffOptions, diffObjects, type FieldDifference } from './diff.js';
export { type FakeClock, type FakeClockOptions, fakeClock } from './fake-clock.js';
export type { Fault } from './faults/fault.js';
export type { CountMatch, FaultMatch, RequestMatch, TextMatch, VerbMatch, WatchMatch } from './faults/match.js';
export {
  conflicting,
  delaying,
  droppingResponses,
  type FaultError,
  failing,
  flaky,
} from './faults/request-faults.js';
export {
  cuttingStreams,
  type EndOptions,
  expiringWatches,
  type ReorderOptions,
  reorderingDeliveries,
  type StaleCaches,
  type StaleOptions,
  staleCaches,
} from './faults/watch-faults.js';
export {
  type Interleaving,
  InterleavingError,
  type InterleavingOptions,
  interleavings,
  type SeedFailure,
} from './interleavings.js';
export { type Ensured, ensure, matchers, type OrchplaneMatchers } from './matchers/index.js';
export type { ManifestPart } from './matchers/manifest.js';
export type { ExpectedCondition, OwnedOptions } from './matchers/objects.js';
export type { MatcherResult } from './matchers/result.js';
export {
  type LoggedRequest,
  type RequestFilter,
  type RequestLog,
  type RequestOutcome,
  recordRequests,
} from './request-log.js';
export { type SeededRandom, seededRandom } from './seeded-random.js';
export { type SequentialIds, sequentialIds } from './sequential-ids.js';
export {
  type FreshForkOptions,
  freshFork,
  type TestCluster,
  type TestClusterOptions,
  testCluster,
} from './test-cluster.js';
export type { TraceOptions } from './trace.js';
