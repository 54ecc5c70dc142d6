/** Validation of ResourceQuotas. */
import { ResourceQuota, type ResourceQuotaInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { ResourceQuotaScope } from '../../../../src/kinds/generated/core-v1.js';
import { rejectionCauses } from '../rejections.js';

type Spec = NonNullable<ResourceQuotaInput['spec']>;

function create(spec: Spec) {
  return testCluster()
    .api(ResourceQuota)
    .create({ metadata: { name: 'q' }, spec });
}

const scope = (name: string) => name as ResourceQuotaScope;
const selector = (scopeName: string, operator: string, values?: string[]): Spec => ({
  scopeSelector: {
    matchExpressions: [
      { scopeName: scope(scopeName), operator: operator as 'In', ...(values === undefined ? {} : { values }) },
    ],
  },
});

describe('a ResourceQuota', () => {
  test('starts with an empty status', async () => {
    const quota = await testCluster()
      .api(ResourceQuota)
      .create({ metadata: { name: 'q' }, status: { hard: { pods: '1' } } });
    expect(quota.status).toEqual({});
  });

  test.each<[string, Spec, string[]]>([
    [
      'unknown resources',
      { hard: { gpu: '1' } },
      [
        'spec.hard[gpu]: Invalid value: gpu: must be a standard resource type or fully qualified',
        'spec.hard[gpu]: Invalid value: gpu: must be a standard resource for quota',
      ],
    ],
    [
      'a negative quantity',
      { hard: { cpu: '-1' } },
      ['spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      'a fractional object count',
      { hard: { pods: '1500m' } },
      [
        'spec.hard[pods]: Invalid value: resource.Quantity{i:resource.int64Amount{value:1500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1500m", Format:"DecimalSI"}: must be an integer',
      ],
    ],
    [
      'unknown scopes',
      { scopes: [scope('Odd')] },
      ['spec.scopes: Invalid value: []core.ResourceQuotaScope{"Odd"}: unsupported scope'],
    ],
    [
      'scopes that do not apply to a resource',
      { hard: { cpu: '1' }, scopes: ['BestEffort'] },
      ['spec.scopes: Invalid value: []core.ResourceQuotaScope{"BestEffort"}: unsupported scope applied to resource'],
    ],
    [
      'scopes that exclude each other',
      { scopes: ['Terminating', 'NotTerminating'] },
      ['spec.scopes: Invalid value: []core.ResourceQuotaScope{"Terminating", "NotTerminating"}: conflicting scopes'],
    ],
    [
      'a selector of unknown scopes',
      selector('Odd', 'Exists'),
      ['spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Odd": unsupported scope'],
    ],
    [
      'an operator that a scope does not support',
      selector('BestEffort', 'In', ['x']),
      [
        'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be \'Exists\' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity',
      ],
    ],
    [
      'an operator without values',
      selector('PriorityClass', 'In'),
      [
        "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ],
    ],
    [
      'values for an operator without values',
      selector('PriorityClass', 'Exists', ['x']),
      [
        "spec.scopeSelector.matchExpressions.values: Invalid value: []string{\"x\"}: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
      ],
    ],
    [
      'an unknown operator',
      selector('PriorityClass', 'Near'),
      ['spec.scopeSelector.matchExpressions.operator: Invalid value: "Near": not a valid selector operator'],
    ],
    [
      'a selector that does not apply to a resource',
      { hard: { services: '1' }, ...selector('PriorityClass', 'Exists') },
      [
        'spec.scopeSelector.matchExpressions: Invalid value: core.ScopeSelector{MatchExpressions:[]core.ScopedResourceSelectorRequirement{core.ScopedResourceSelectorRequirement{ScopeName:"PriorityClass", Operator:"Exists", Values:[]string(nil)}}}: unsupported scope applied to resource',
      ],
    ],
  ])('rejects a ResourceQuota with %s', async (_, spec, problems) => {
    expect(await rejectionCauses(create(spec))).toEqual(problems);
  });

  test('does not allow a ResourceQuota to change its scopes', async () => {
    const quotas = testCluster().api(ResourceQuota);
    await quotas.create({ metadata: { name: 'q' }, spec: { scopes: ['BestEffort', 'Terminating'] } });
    await quotas.update({ metadata: { name: 'q' }, spec: { scopes: ['Terminating', 'BestEffort'] } });
    expect(await rejectionCauses(quotas.update({ metadata: { name: 'q' } }))).toEqual([
      'spec.scopes: Invalid value: []core.ResourceQuotaScope(nil): field is immutable',
    ]);
  });

  test('validates the status subresource by the same rules', async () => {
    const quotas = testCluster().api(ResourceQuota);
    await quotas.create({ metadata: { name: 'q' }, spec: { hard: { pods: '5' } } });
    const input = { metadata: { name: 'q' }, status: { hard: { pods: '5' }, used: { pods: '1' } } };
    const stored = await quotas.status.update('q', input);
    expect(stored).toMatchObject({ spec: { hard: { pods: '5' } }, status: input.status });
    const bad = quotas.status.update('q', { metadata: { name: 'q' }, status: { used: { pods: '-1' } } });
    expect(await rejectionCauses(bad)).toEqual([
      'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ]);
  });
});
