/** Node selectors and affinity, with the reference server's messages. */
import { describe, expect, test } from 'vitest';
import type { Affinity, NodeSelectorRequirement, PodAffinityTerm } from '../../../../src/kinds/shared/node-selector.js';
import {
  validateAffinity,
  validateNodeSelector,
  validateNodeSelectorTerm,
  validatePodAffinityTerm,
  withLabelKeys,
} from '../../../../src/kinds/shared/node-selector.js';
import type { FieldError } from '../../../../src/meta/field-error.js';
import { printFieldError } from '../../../../src/meta/field-error.js';

const print = (errors: readonly FieldError[]) => errors.map(printFieldError);
const fields = (errors: readonly FieldError[]) => errors.map(({ field }) => field);

describe('node selectors', () => {
  test('requires a term, which may be empty', () => {
    expect(print(validateNodeSelector('n', {}))).toEqual([
      'n.nodeSelectorTerms: Required value: must have at least one node selector term',
    ]);
    expect(validateNodeSelector('n', { nodeSelectorTerms: [{}] })).toEqual([]);
  });

  test.each<[NodeSelectorRequirement, string[]]>([
    [{ key: 'a', operator: 'In', values: ['b'] }, []],
    [{ key: 'a', operator: 'Exists' }, []],
    [{ key: 'a', operator: 'Gt', values: ['x'] }, []],
    [
      { key: 'a', operator: 'NotIn' },
      ["e.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
    ],
    [
      { key: 'a', operator: 'DoesNotExist', values: ['b'] },
      ["e.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"],
    ],
    [
      { key: 'a', operator: 'Lt', values: ['1', '2'] },
      ["e.values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"],
    ],
    [{ key: 'a', operator: 'Like' }, ['e.operator: Invalid value: "Like": not a valid selector operator']],
    [{ key: 'a' }, ['e.operator: Invalid value: "": not a valid selector operator']],
  ])('validates the expression %j', (requirement, errors) => {
    const found = print(validateNodeSelectorTerm('n', { matchExpressions: [requirement] }));
    expect(found).toEqual(errors.map((error) => error.replace(/^e/, 'n.matchExpressions[0]')));
  });

  test('validates keys and values as labels, unless invalid values are allowed', () => {
    const term = { matchExpressions: [{ key: 'a b', operator: 'In', values: ['c', 'd e'] }] };
    const key = 'n.matchExpressions[0].key';
    expect(fields(validateNodeSelectorTerm('n', term))).toEqual([key, 'n.matchExpressions[0].values[1]']);
    expect(fields(validateNodeSelectorTerm('n', term, { allowInvalidNodeValues: true }))).toEqual([key]);
  });

  test.each<[NodeSelectorRequirement, string[]]>([
    [{ key: 'metadata.name', operator: 'In', values: ['n1'] }, []],
    [
      { key: 'metadata.name', operator: 'In', values: ['a', 'b'] },
      ["f.values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector"],
    ],
    [
      { key: 'metadata.uid', operator: 'Exists' },
      [
        'f.operator: Invalid value: "Exists": not a valid selector operator',
        'f.key: Invalid value: "metadata.uid": not a valid field selector key',
      ],
    ],
  ])('validates the field requirement %j', (requirement, errors) => {
    const found = print(validateNodeSelectorTerm('n', { matchFields: [requirement] }));
    expect(found).toEqual(errors.map((error) => error.replace(/^f/, 'n.matchFields[0]')));
  });

  test('validates the value of a field requirement as a node name', () => {
    const term = { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['A_B'] }] };
    expect(fields(validateNodeSelectorTerm('n', term))).toEqual(['n.matchFields[0].values[0]']);
  });
});

describe('pod affinity terms', () => {
  const zone = { topologyKey: 'zone' };

  test.each<[string, PodAffinityTerm, string[]]>([
    ['valid fields', { ...zone, labelSelector: { matchLabels: { a: 'b' } }, namespaces: ['x'] }, []],
    [
      'no topologyKey',
      {},
      [
        't.topologyKey: Required value: can not be empty',
        't.topologyKey: Invalid value: "": name part must be non-empty',
        "t.topologyKey: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      'an invalid namespace',
      { ...zone, namespaces: ['a.b'] },
      ['t.namespace: Invalid value: "a.b": must not contain dots'],
    ],
    [
      'invalid selectors',
      {
        ...zone,
        labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
        namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] },
      },
      [
        "t.labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        't.namespaceSelector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
      ],
    ],
    [
      'label keys without a selector',
      { ...zone, matchLabelKeys: ['a'], mismatchLabelKeys: ['b'] },
      [
        't.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set',
        't.mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set',
      ],
    ],
    [
      'a key in matchLabelKeys and mismatchLabelKeys',
      { ...zone, labelSelector: {}, matchLabelKeys: ['c', 'a'], mismatchLabelKeys: ['a'] },
      ['t.matchLabelKeys[1]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys'],
    ],
  ])('validates a pod affinity term with %s', (_, term, errors) => {
    expect(print(validatePodAffinityTerm('t', term))).toEqual(errors);
  });

  test('validates label keys', () => {
    const term = { ...zone, labelSelector: {}, matchLabelKeys: ['a', 'b c'], mismatchLabelKeys: ['d e'] };
    expect(fields(validatePodAffinityTerm('t', term))).toEqual(['t.matchLabelKeys[1]', 't.mismatchLabelKeys[0]']);
  });

  test('converts label keys to expressions with the labels of the Pod', () => {
    const term = {
      ...zone,
      labelSelector: { matchLabels: { app: 'web' } },
      matchLabelKeys: ['hash', 'no'],
      mismatchLabelKeys: ['t'],
    };
    const merged = withLabelKeys(term, { hash: '1', t: '2' });
    expect(merged.labelSelector).toEqual({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'hash', operator: 'In', values: ['1'] },
        { key: 't', operator: 'NotIn', values: ['2'] },
      ],
    });
    expect(validatePodAffinityTerm('t', merged)).toEqual([]);
    expect(withLabelKeys({ ...zone, matchLabelKeys: ['hash'] }, { hash: '1' })).toEqual({
      ...zone,
      matchLabelKeys: ['hash'],
    });
  });

  test('reports a label key that is also in the selector', () => {
    const term = { ...zone, labelSelector: { matchLabels: { hash: '1' } }, matchLabelKeys: ['x', 'hash'] };
    expect(validatePodAffinityTerm('t', term)).toEqual([]);
    expect(print(validatePodAffinityTerm('t', withLabelKeys(term, { hash: '1' })))).toEqual([
      't[1]: Invalid value: "hash": exists in both matchLabelKeys and labelSelector',
    ]);
  });
});

describe('affinity', () => {
  const bad = { key: 'a', operator: 'In', values: ['b c'] };
  const affinity: Affinity = {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: 'z' } }],
    },
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'z', labelSelector: { matchExpressions: [bad] } },
      ],
    },
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [bad] }] },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 101, preference: { matchExpressions: [bad] } },
        { weight: 100, preference: {} },
      ],
    },
  };

  test('reports node affinity before pod affinity', () => {
    const found = validateAffinity('a', affinity);
    expect(fields(found)).toEqual([
      'a.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[0]',
      'a.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight',
      'a.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].values[0]',
      'a.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight',
    ]);
    expect(found[1]?.message).toBe('Invalid value: 101: must be in the range 1-100');
  });

  test('accepts invalid label values if they are allowed', () => {
    const kept = { allowInvalidNodeValues: true, allowInvalidSelectorValues: true };
    expect(fields(validateAffinity('a', affinity, kept)).every((field) => field.endsWith('weight'))).toBe(true);
    expect(validateAffinity('a', {})).toEqual([]);
  });
});
