/** Validation of RuntimeClasses. */
import { RuntimeClass, type RuntimeClassInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const create = (body: object) =>
  testCluster()
    .api(RuntimeClass)
    .create({ metadata: { name: 'a' }, handler: 'runc', ...body } as RuntimeClassInput);

const causes = (...expected: object[]) => ({ reason: 'Invalid', status: { details: { causes: expected } } });

describe('a RuntimeClass', () => {
  test.each([
    [{ handler: '' }, 'handler', 'a lowercase RFC 1123 label must consist of'],
    [{ handler: 'A_B' }, 'handler', 'Invalid value: "A_B": a lowercase RFC 1123 label must consist of'],
    [{ overhead: { podFixed: { cpu: '-1' } } }, 'overhead.limits[cpu]', 'must be greater than or equal to 0'],
    [{ scheduling: { nodeSelector: { k: 'a b' } } }, 'scheduling.nodeSelector', 'Invalid value: "a b"'],
    [
      { scheduling: { tolerations: [{ key: 'k', operator: 'Near' }] } },
      'scheduling.tolerations.tolerations[0].operator',
      'Unsupported value: "Near": supported values: "Equal", "Exists"',
    ],
    [
      {
        scheduling: {
          tolerations: [
            { key: 'k', effect: 'NoExecute', tolerationSeconds: 5 },
            { key: 'k', effect: 'NoExecute' },
          ],
        },
      },
      'scheduling.tolerations[1]',
      'Duplicate value: core.Toleration{Key:"k", Operator:"", Value:"", Effect:"NoExecute", TolerationSeconds:(*int64)(nil)}',
    ],
  ])('rejects a RuntimeClass with %o', async (body, field, message) => {
    await expect(create(body)).rejects.toMatchObject(causes({ field, message: expect.stringContaining(message) }));
  });

  test('keeps its fields, with canonical quantities', async () => {
    const tolerations = [{ key: 'k', operator: 'Exists' }];
    const { overhead, scheduling } = await create({
      overhead: { podFixed: { memory: '1024Mi', cpu: '100100u' } },
      scheduling: { nodeSelector: { k: 'v' }, tolerations },
    });
    expect({ overhead, scheduling }).toEqual({
      overhead: { podFixed: { cpu: '101m', memory: '1Gi' } },
      scheduling: { nodeSelector: { k: 'v' }, tolerations },
    });
  });

  test('warns about deprecated labels', async () => {
    const warnings: string[] = [];
    const classes = testCluster({ client: { onWarning: (text) => warnings.push(text) } }).api(RuntimeClass);
    const scheduling = { nodeSelector: { 'beta.orch.io/os': 'v' } };
    await classes.create({ metadata: { name: 'a' }, handler: 'runc', scheduling });
    expect(warnings).toEqual(['scheduling.nodeSelector: deprecated since v1.14; use "orch.io/os" instead']);
  });

  test('has an immutable handler', async () => {
    const classes = testCluster().api(RuntimeClass);
    const first = await classes.create({ metadata: { name: 'a' }, handler: 'runc' });
    await expect(classes.update({ ...first, handler: 'A' })).rejects.toMatchObject(
      causes(
        { field: 'handler', message: expect.stringContaining('a lowercase RFC 1123 label') },
        { field: 'handler', message: 'Invalid value: "A": field is immutable' },
      ),
    );
  });
});
