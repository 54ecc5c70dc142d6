/** Samples of events.k8s.io Events. */
import { Event } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const body = {
  eventTime: '2030-01-01T00:00:00.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'Run',
  reason: 'Ran',
  type: 'Normal',
  regarding: { namespace: 'default', name: 'p' },
};

export const samples: readonly KindSample[] = [
  {
    kind: Event,
    body,
    change: { series: { count: 2, lastObservedTime: '2030-01-01T00:00:01.000000Z' } },
    wireOrder: [
      'kind',
      'apiVersion',
      'metadata',
      'eventTime',
      'series',
      'reportingController',
      'reportingInstance',
      'action',
      'reason',
      'regarding',
      'related',
      'note',
      'type',
      'deprecatedSource',
      'deprecatedFirstTimestamp',
      'deprecatedLastTimestamp',
      'deprecatedCount',
    ],
    deletedAtOnce: true,
    unconditionalUpdate: true,
    createOnUpdate: true,
  },
];
