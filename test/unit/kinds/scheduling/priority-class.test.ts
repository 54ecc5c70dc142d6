/** Validation of PriorityClasses, in the dialect in which the value is optional. */
import { PriorityClass, type PriorityClassInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { invalidWith } from '../rejections.js';

const create = (body: object, name = 'a') =>
  testCluster({ dialect: 'kubernetes' })
    .api(PriorityClass)
    .create({ metadata: { name }, ...body } as PriorityClassInput);

const reserved = (why: string) =>
  `Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ${why}`;

describe('a PriorityClass', () => {
  test('gets a default value, preemptionPolicy and generation', async () => {
    const { metadata, value, preemptionPolicy } = await create({});
    expect({ value, preemptionPolicy, generation: metadata.generation }).toEqual({
      value: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      generation: 1,
    });
  });

  test.each([
    [{ value: 1_000_000_001 }, 'value', 'Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    [{ preemptionPolicy: '' }, 'preemptionPolicy', 'Required value'],
    [
      { preemptionPolicy: 'Maybe' },
      'preemptionPolicy',
      'Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"',
    ],
  ])('rejects a PriorityClass with %o', async (body, field, message) => {
    await expect(create(body)).rejects.toMatchObject(invalidWith([field, message]));
  });

  test('allows a PriorityClass to have the highest user value', async () => {
    expect((await create({ value: 1_000_000_000 })).value).toBe(1_000_000_000);
  });

  test('has an immutable value and preemptionPolicy, and keeps its generation on other changes', async () => {
    const classes = testCluster().api(PriorityClass);
    const first = await classes.create({ metadata: { name: 'a' }, value: 1 });
    await expect(classes.update({ ...first, value: 2, preemptionPolicy: 'Never' })).rejects.toMatchObject(
      invalidWith(
        ['value', 'Forbidden: may not be changed in an update.'],
        ['preemptionPolicy', 'Invalid value: "Never": field is immutable'],
      ),
    );
    const second = await classes.update({ ...first, description: 'text', globalDefault: true });
    expect(second).toMatchObject({ description: 'text', globalDefault: true, metadata: { generation: 1 } });
  });
});

describe('a system PriorityClass', () => {
  test.each([
    ['system-other', {}, 'system-other is not a known system priority class'],
    ['system-node-critical', { value: 5 }, 'value of system-node-critical PriorityClass must be 2000001000'],
    [
      'system-cluster-critical',
      { value: 2_000_000_000, globalDefault: true },
      'globalDefault of system-cluster-critical PriorityClass must be false',
    ],
  ])('rejects a system PriorityClass named %s with %o', async (name, body, why) => {
    await expect(create(body, name)).rejects.toMatchObject(invalidWith(['metadata.name', reserved(why)]));
  });

  test('creates a system PriorityClass only with its fixed value, and never deletes it', async () => {
    const classes = testCluster().api(PriorityClass);
    const name = 'system-node-critical';
    if ((await classes.find(name)) === undefined) await classes.create({ metadata: { name }, value: 2_000_001_000 });
    await expect(classes.delete(name)).rejects.toMatchObject({
      reason: 'Forbidden',
      message: `priorityclasses.scheduling.orch.io "${name}" is forbidden: this is a system priority class and cannot be deleted`,
    });
  });
});
