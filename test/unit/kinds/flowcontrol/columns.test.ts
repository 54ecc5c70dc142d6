/** Table columns of FlowSchemas and PriorityLevelConfigurations. */
import type { ApiObject, Kind } from 'orchplane';
import { FlowSchema, PriorityLevelConfiguration } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { orchDialect } from '../../../../src/meta/dialect.js';

const metadata = { name: 'a', creationTimestamp: '2030-01-01T00:00:00Z' };
const cells = (kind: Kind, body: object) =>
  kind.columns?.map(({ cell }) =>
    cell({ metadata, ...body } as unknown as ApiObject, { nowMs: Date.UTC(2030, 0, 1, 0, 1, 0), dialect: orchDialect }),
  );

test('prints the priority level of a FlowSchema and whether it is missing', () => {
  const spec = { priorityLevelConfiguration: { name: 'p' }, matchingPrecedence: 7 };
  expect(cells(FlowSchema, { spec, status: {} })).toEqual(['a', 'p', 7, '<none>', '60s', '?']);
  const status = { conditions: [{ type: 'Dangling', status: 'True' }] };
  const distinguisherMethod = { type: 'ByUser' };
  expect(cells(FlowSchema, { spec: { ...spec, distinguisherMethod }, status })).toEqual([
    'a',
    'p',
    7,
    'ByUser',
    '60s',
    'True',
  ]);
});

test('prints the numbers of a PriorityLevelConfiguration if it has any', () => {
  const queuing = { queues: 8, handSize: 2, queueLengthLimit: 10 };
  const limited = { nominalConcurrencyShares: 5, limitResponse: { type: 'Queue', queuing } };
  expect(cells(PriorityLevelConfiguration, { spec: { type: 'Limited', limited } })).toEqual([
    'a',
    'Limited',
    5,
    8,
    2,
    10,
    '60s',
  ]);
  const none = '<none>';
  expect(cells(PriorityLevelConfiguration, { spec: { type: 'Exempt' } })).toEqual([
    'a',
    'Exempt',
    none,
    none,
    none,
    none,
    '60s',
  ]);
});
