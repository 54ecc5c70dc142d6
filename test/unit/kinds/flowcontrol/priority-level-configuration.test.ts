/** Validation of PriorityLevelConfigurations. */
import { PriorityLevelConfiguration, type PriorityLevelConfigurationInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { invalidWith } from '../rejections.js';

const create = async (
  spec: object,
  metadata: { readonly name?: string; readonly annotations?: Record<string, string> } = {},
) => {
  const levels = testCluster().api(PriorityLevelConfiguration);
  const { name = 'p' } = metadata;
  // The mandatory levels exist already.
  if ((await levels.find(name)) !== undefined) await levels.delete(name);
  return levels.create({ metadata: { name, ...metadata }, spec } as PriorityLevelConfigurationInput);
};
const limited = (level: object) =>
  create({ type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...level } });
const queuing = (part: object) =>
  limited({ limitResponse: { type: 'Queue', queuing: { queues: 8, handSize: 2, queueLengthLimit: 10, ...part } } });

describe('a PriorityLevelConfiguration', () => {
  test('sets the defaults of a PriorityLevelConfiguration', async () => {
    expect((await limited({})).spec.limited).toEqual({
      nominalConcurrencyShares: 30,
      limitResponse: { type: 'Reject' },
      lendablePercent: 0,
    });
    const { spec } = await limited({ nominalConcurrencyShares: 0, limitResponse: { type: 'Queue', queuing: {} } });
    expect(spec.limited).toMatchObject({
      nominalConcurrencyShares: 0,
      limitResponse: { queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
    });
    const exempt = await create({ type: 'Exempt', exempt: {} }, { name: 'exempt' });
    expect(exempt.spec.exempt).toEqual({ nominalConcurrencyShares: 0, lendablePercent: 0 });
  });

  test.each([
    [{}, [['spec.type', 'Unsupported value: "": supported values: "Exempt", "Limited"']]],
    [{ type: 'Limited' }, [['spec.limited', 'Required value: must not be empty when type is Limited']]],
    [
      { type: 'Limited', exempt: {}, limited: { limitResponse: { type: 'Reject' } } },
      [['spec.exempt', 'Forbidden: must be nil if the type is Limited']],
    ],
    [
      { type: 'Exempt', limited: { limitResponse: { type: 'Reject' } } },
      [
        ['spec.type', `Invalid value: "Exempt": type must be 'Exempt' if and only if name is 'exempt'`],
        ['spec.limited', 'Forbidden: must be nil if the type is not Limited'],
      ],
    ],
  ])('rejects a PriorityLevelConfiguration with the spec %o', async (spec, causes) => {
    await expect(create(spec)).rejects.toMatchObject(
      invalidWith(...causes.map(([field, message]) => [`${field}`, message] as const)),
    );
  });

  test.each([
    [{ nominalConcurrencyShares: -1 }, 'nominalConcurrencyShares', 'Invalid value: -1: must be a non-negative integer'],
    [{ lendablePercent: 101 }, 'lendablePercent', 'Invalid value: 101: must be between 0 and 100, inclusive'],
    [
      { borrowingLimitPercent: -1 },
      'borrowingLimitPercent',
      'Invalid value: -1: if specified, must be a non-negative integer',
    ],
    [{ limitResponse: {} }, 'limitResponse.type', 'Unsupported value: "": supported values: "Queue", "Reject"'],
    [
      { limitResponse: { type: 'Queue' } },
      'limitResponse.queuing',
      'Required value: must not be empty if limited.limitResponse.type is Limited',
    ],
    [
      { limitResponse: { type: 'Reject', queuing: {} } },
      'limitResponse.queuing',
      'Forbidden: must be nil if limited.limitResponse.type is not Limited',
    ],
  ])('rejects a PriorityLevelConfiguration of type Limited with %o', async (level, field, message) => {
    await expect(limited(level)).rejects.toMatchObject(invalidWith([`spec.limited.${field}`, message]));
  });

  test.each([
    [{ queueLengthLimit: -1 }, [['queueLengthLimit', 'Invalid value: -1: must be positive']]],
    [
      { queues: -1 },
      [
        ['queues', 'Invalid value: -1: must be positive'],
        ['handSize', 'Invalid value: 2: should not be greater than queues (-1)'],
      ],
    ],
    [{ queues: 10_000_001 }, [['queues', 'Invalid value: 10000001: must not be greater than 10000000']]],
    [{ handSize: -1 }, [['handSize', 'Invalid value: -1: must be positive']]],
    [{ handSize: 9 }, [['handSize', 'Invalid value: 9: should not be greater than queues (8)']]],
    [
      { queues: 512, handSize: 8 },
      [
        [
          'handSize',
          'Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60',
        ],
      ],
    ],
  ])('rejects a PriorityLevelConfiguration with the queuing configuration %o', async (part, causes) => {
    const path = 'spec.limited.limitResponse.queuing';
    await expect(queuing(part)).rejects.toMatchObject(
      invalidWith(...causes.map(([field, message]) => [`${path}.${field}`, message] as const)),
    );
  });

  test('rejects the zero-shares annotation of v1beta3', async () => {
    const key = 'flowcontrol.orch.io/v1beta3-preserve-zero-concurrency-shares';
    const spec = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } };
    await expect(create(spec, { annotations: { [key]: '' } })).rejects.toMatchObject(
      invalidWith(['metadata.annotations', `Forbidden: annotation '${key}' is forbidden`]),
    );
  });
});

describe('a mandatory PriorityLevelConfiguration', () => {
  const spec = (type: string, limits: string, exempt: string) =>
    `flowcontrol.PriorityLevelConfigurationSpec{Type:"${type}", Limited:(*flowcontrol.LimitedPriorityLevelConfiguration)(${limits}), Exempt:(*flowcontrol.ExemptPriorityLevelConfiguration)(${exempt})}`;

  test('allows changes of only the sharing of the exempt level', async () => {
    const name = 'exempt';
    const shared = await create({ type: 'Exempt', exempt: { lendablePercent: 50 } }, { name });
    expect(shared.spec.exempt?.lendablePercent).toBe(50);
    await expect(create({ type: 'Limited' }, { name })).rejects.toMatchObject(
      invalidWith(
        ['spec.type', `Invalid value: "Limited": type must be 'Exempt' if and only if name is 'exempt'`],
        ['spec.limited', 'Required value: must not be empty when type is Limited'],
        [
          'spec',
          `Invalid value: ${spec('Limited', 'nil', 'nil')}: spec of 'exempt' except the 'spec.exempt' field must equal the fixed value`,
        ],
      ),
    );
  });

  test('rejects changes of the spec of the catch-all level', async () => {
    const fixed = { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' } };
    const metadata = { name: 'catch-all' };
    await expect(create({ type: 'Limited', limited: fixed }, metadata)).resolves.toBeDefined();
    await expect(
      create({ type: 'Limited', limited: { ...fixed, nominalConcurrencyShares: 6 } }, metadata),
    ).rejects.toMatchObject(
      invalidWith([
        'spec',
        `Invalid value: ${spec('Limited', '0xc000000000', 'nil')}: spec of 'catch-all' must equal the fixed value`,
      ]),
    );
  });
});
