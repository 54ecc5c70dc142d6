/** Decisions of kube-scheduler on generated clusters, recorded by test/differential/scheduler.mjs. */
import { expect, test } from 'vitest';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { fitMessage } from '../../../../src/runtime/scheduler/fit-message.js';
import { SchedulingError } from '../../../../src/runtime/scheduler/plugin.js';
import { rank } from '../../../../src/runtime/scheduler/rank.js';
import { findRemedy } from '../../../../src/runtime/scheduler/remedy.js';
import { createSnapshot, NodeInfo, podInfoOf } from '../../../../src/runtime/scheduler/snapshot.js';
import { type RecordedCluster, replay } from '../../../differential/scheduler/replay.mjs';
import { readVectors } from '../../../vectors/read.js';

const lib = { kubernetesDialect, fitMessage, SchedulingError, rank, findRemedy, createSnapshot, NodeInfo, podInfoOf };

test('decides as the recorded scheduler: the same nodes, scores, messages and victims', () => {
  const clusters = readVectors('scheduler') as readonly RecordedCluster[];
  const results = clusters.flatMap((cluster) =>
    replay(lib, cluster).map((result, index) => `${cluster.id} ${cluster.decisions[index]?.pod}: ${result}`),
  );
  expect(results.length).toBeGreaterThanOrEqual(400);
  expect(results.filter((text) => !/: (same|tie)$/.test(text))).toEqual([]);
});
