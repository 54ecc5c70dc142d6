/** Table columns of APIServices. */
import type { ApiObject } from 'orchplane';
import { APIService } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { orchDialect } from '../../../../src/meta/dialect.js';

const metadata = { name: 'a', creationTimestamp: '2030-01-01T00:00:00Z' };
const cells = (body: object) =>
  APIService.columns?.map(({ cell }) =>
    cell({ metadata, ...body } as unknown as ApiObject, { nowMs: Date.UTC(2030, 0, 1, 0, 1, 0), dialect: orchDialect }),
  );

const available = (condition: object) => ({ conditions: [{ type: 'Available', ...condition }] });

test.each([
  [{}, {}, 'Local', 'Unknown'],
  [{}, available({ status: 'True', reason: 'Local' }), 'Local', 'True'],
  [{ service: { namespace: 'n', name: 's' } }, available({ status: 'False' }), 'n/s', 'False'],
  [{ service: { namespace: 'n', name: 's' } }, available({ status: 'False', reason: 'Gone' }), 'n/s', 'False (Gone)'],
])('prints the service and the availability: %o with %o is %s and %s', (spec, status, service, state) => {
  expect(cells({ spec, status })).toEqual(['a', service, state, '60s']);
});
