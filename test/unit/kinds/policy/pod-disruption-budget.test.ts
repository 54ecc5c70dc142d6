/** Validation of PodDisruptionBudgets, and their table columns. */
import { mergePatch } from 'orchplane';
import { PodDisruptionBudget, type PodDisruptionBudgetInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { orchDialect } from '../../../../src/meta/dialect.js';
import type { ApiObject } from '../../../../src/meta/object.js';
import { rejectionCauses } from '../rejections.js';

const open = () => testCluster().api(PodDisruptionBudget, 'default');
const create = (spec: object, budgets = open()) =>
  budgets.create({ metadata: { name: 'b' }, spec } as PodDisruptionBudgetInput);
const PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
const dump = (text: string) => `intstr.IntOrString{Type:1, IntVal:0, StrVal:"${text}"}`;

type Case = readonly [spec: object, ...problems: string[]];

describe('a PodDisruptionBudget', () => {
  test('starts with an empty status, which has its own subresource', async () => {
    const budgets = open();
    const { status, metadata } = await create({ minAvailable: 1 }, budgets);
    expect(metadata.generation).toBe(1);
    expect(status).toEqual({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 });
    const next = await budgets.status.patch('b', mergePatch({ spec: null, status: { expectedPods: 3 } } as never));
    expect(next).toMatchObject({ spec: { minAvailable: 1 }, status: { expectedPods: 3 } });
    const changed = await budgets.patch('b', mergePatch({ spec: { minAvailable: '50%' } } as never));
    expect(changed).toMatchObject({ metadata: { generation: 2 }, status: { expectedPods: 3 } });
  });

  test.each<Case>([
    [{ minAvailable: -1 }, 'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0'],
    [{ minAvailable: 'x' }, `spec.minAvailable: Invalid value: ${dump('x')}: ${PERCENT}`],
    [{ maxUnavailable: '101%' }, `spec.maxUnavailable: Invalid value: ${dump('101%')}: must not be greater than 100%`],
    [
      { unhealthyPodEvictionPolicy: 'Odd' },
      'spec.unhealthyPodEvictionPolicy: Unsupported value: "Odd": supported values: "AlwaysAllow", "IfHealthyBudget"',
    ],
    [
      { selector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } },
      'spec.selector.matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator',
    ],
  ])('rejects the spec %j', async (...given) => {
    const [spec, ...problems] = given as unknown as Case;
    expect(await rejectionCauses(create(spec))).toEqual(problems);
  });

  test('rejects both minAvailable and maxUnavailable', async () => {
    const [problem = ''] = await rejectionCauses(create({ minAvailable: 1, maxUnavailable: 1 }));
    expect(problem).toMatch(/^spec: Invalid value: policy\.PodDisruptionBudgetSpec\{MinAvailable:/);
    expect(problem).toMatch(/: minAvailable and maxUnavailable cannot be both set$/);
  });

  test('validates counts and conditions in its status', async () => {
    const budgets = open();
    await create({}, budgets);
    const patch = (status: object) => budgets.status.patch('b', mergePatch({ status } as never));
    expect(await rejectionCauses(patch({ disruptionsAllowed: -1 }))).toEqual([
      'status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0',
    ]);
    expect(await rejectionCauses(patch({ conditions: [{ type: 'X', status: 'Maybe' }] }))).toEqual([
      'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
      'status.conditions[0].lastTransitionTime: Required value: must be set',
      'status.conditions[0].reason: Required value: must be set',
    ]);
  });

  test('allows a PodDisruptionBudget to have any name that is valid in a path', async () => {
    const budgets = open();
    await expect(budgets.create({ metadata: { name: 'My_Budget' } })).resolves.toBeDefined();
    expect(await rejectionCauses(budgets.create({ metadata: { name: 'a%b' } }))).toEqual([
      'metadata.name: Invalid value: "a%b": may not contain \'%\'',
    ]);
  });

  test('prints its limits in a table', async () => {
    const budget = (await create({ maxUnavailable: '10%' })) as unknown as ApiObject;
    const nowMs = Date.parse('2030-01-01T00:01:00Z');
    const cells = (PodDisruptionBudget.columns ?? []).map(({ name, cell }) => [
      name,
      cell(budget, { nowMs, dialect: orchDialect }),
    ]);
    expect(cells).toEqual([
      ['Name', 'b'],
      ['Min Available', 'N/A'],
      ['Max Unavailable', '10%'],
      ['Allowed Disruptions', 0],
      ['Age', '60s'],
    ]);
  });
});
