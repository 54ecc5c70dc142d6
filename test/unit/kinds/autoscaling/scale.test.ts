/** What `/scale` of a workload shows and changes. */
import { Scale } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { scaleSubresource } from '../../../../src/kinds/autoscaling/v1/scale.js';
import type { WriteContext } from '../../../../src/kinds/kind.js';
import type { ApiObject, DraftObject } from '../../../../src/meta/object.js';

const context = {} as WriteContext;
const metadata = {
  name: 'd',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2030-01-01T00:00:00Z',
};
const live = (spec: object, status?: object) =>
  ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec, ...(status && { status }) }) as unknown as ApiObject;

describe('a scale', () => {
  test.each<[object, object | undefined, object]>([
    [
      { replicas: 2, selector: { matchLabels: { b: 'c', a: 'b' } } },
      { replicas: 1 },
      { spec: { replicas: 2 }, status: { replicas: 1, selector: 'a=b,b=c' } },
    ],
    [{ replicas: 0 }, undefined, { spec: {}, status: { replicas: 0 } }],
  ])('of %j and %j', (spec, status, expected) => {
    expect(scaleSubresource().read(live(spec, status), context)).toMatchObject(expected);
  });

  test('reads a selector of another form as its kind says', () => {
    const view = scaleSubresource({ selector: () => 'x=y' });
    expect(view.read(live({ replicas: 1 }), context)['status']).toEqual({ replicas: 0, selector: 'x=y' });
  });

  test('without replicas asks for none', () => {
    const draft = { metadata: {}, spec: { replicas: 3 } } as unknown as DraftObject;
    scaleSubresource().write(live({}), draft, context);
    expect(draft['spec']).toEqual({ replicas: 0 });
  });

  test('asks for none or more', () => {
    expect(Scale.strategy.validate?.(live({ replicas: -1 }), context)).toEqual([
      { type: 'invalid', field: 'spec.replicas', message: 'Invalid value: -1: must be greater than or equal to 0' },
    ]);
  });
});
