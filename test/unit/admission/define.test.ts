/** User-defined plugins: what they may do, and errors for misuse. */
import { defaultAdmission, errors, fieldError, mergePatch } from 'orchplane';
import { ConfigMap, Deployment, HorizontalPodAutoscaler, HorizontalPodAutoscalerV1, Pod } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { defineAdmission } from '../../../src/admission/define.js';

const withPlugins = (...plugins: ReturnType<typeof defineAdmission>[]) =>
  testCluster({ admission: [...defaultAdmission, ...plugins] });
const settings = (labels?: Record<string, string>) => ({
  metadata: { name: 'settings', ...(labels === undefined ? {} : { labels }) },
  data: { a: '1' },
});

const requireTeam = defineAdmission({
  name: 'RequireTeam',
  on: ['CREATE', 'UPDATE'],
  kind: ConfigMap,
  mutate(draft, request) {
    draft.metadata.annotations = { ...draft.metadata.annotations, 'created-by': request.user.user };
  },
  validate: ({ object }) =>
    object.metadata.labels?.['team'] ? [] : [fieldError('required', 'metadata.labels[team]', { detail: 'say whose' })],
});

describe('a user-defined plugin', () => {
  test('cannot set the selfLink of a stored object', async () => {
    const selfLink = defineAdmission({
      name: 'SelfLink',
      on: ['CREATE', 'UPDATE'],
      kind: ConfigMap,
      mutate(draft) {
        (draft.metadata as { selfLink?: string }).selfLink = '/api/v1/other';
      },
    });
    const configMaps = withPlugins(selfLink).api(ConfigMap);
    expect((await configMaps.create(settings())).metadata).not.toHaveProperty('selfLink');
    expect((await configMaps.patch('settings', mergePatch({ data: { a: '2' } }))).metadata).not.toHaveProperty(
      'selfLink',
    );
    expect((await configMaps.get('settings')).metadata).not.toHaveProperty('selfLink');
  });

  test('changes the draft and rejects the object', async () => {
    const cluster = withPlugins(requireTeam);
    await expect(cluster.api(ConfigMap).create(settings())).rejects.toMatchObject({
      code: 422,
      message: 'ConfigMap "settings" is invalid: metadata.labels[team]: Required value: say whose',
      status: {
        details: {
          name: 'settings',
          kind: 'ConfigMap',
          causes: [
            { reason: 'FieldValueRequired', message: 'Required value: say whose', field: 'metadata.labels[team]' },
          ],
        },
      },
    });
    const made = await cluster.api(ConfigMap).create(settings({ team: 'a' }));
    expect(made.metadata.annotations).toHaveProperty('created-by');
    await expect(
      cluster.api(ConfigMap).patch('settings', mergePatch({ metadata: { labels: null } } as never)),
    ).rejects.toMatchObject({ code: 422 });
  });

  test('runs a frozen user-defined plugin only for its kinds and operations', async () => {
    const calls: string[] = [];
    const plugin = defineAdmission({
      name: 'Listens',
      on: ['CREATE', 'DELETE'],
      kind: [ConfigMap, Pod],
      validate: ({ operation, served }) => void calls.push(`${operation} ${served.kind.kind}`),
    });
    expect(Object.isFrozen(plugin)).toBe(true);
    const cluster = withPlugins(plugin);
    await cluster.api(ConfigMap).create(settings());
    await cluster.api(ConfigMap).patch('settings', mergePatch({ data: { a: '2' } }));
    await cluster.api(ConfigMap).delete('settings');
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await cluster.api(Pod).create({ metadata: { name: 'p' }, spec });
    const template = { metadata: { labels: { a: 'b' } }, spec };
    const selector = { matchLabels: { a: 'b' } };
    await cluster.api(Deployment).create({ metadata: { name: 'd' }, spec: { selector, template } });
    expect(calls).toEqual(['CREATE ConfigMap', 'DELETE ConfigMap', 'CREATE Pod']);
  });

  test.each([
    ['a string', () => 'not today', 'not today'],
    ['an array of strings', () => ['a', 'b', 'a'], '[a, b]'],
    ['a promise of strings', async () => ['later'], 'later'],
  ])('rejects by %s', async (_, validate, why) => {
    const cluster = withPlugins(defineAdmission({ name: 'No', kind: ConfigMap, validate }));
    await expect(cluster.api(ConfigMap).create(settings())).rejects.toMatchObject({
      code: 403,
      message: `configmaps "settings" is forbidden: ${why}`,
    });
  });

  test('allows a user-defined plugin to throw any Status', async () => {
    const full = () => {
      throw errors.tooManyRequests('full', 5);
    };
    for (const plugin of [
      defineAdmission({ name: 'Full', kind: ConfigMap, validate: full }),
      defineAdmission({ name: 'Full', kind: ConfigMap, mutate: full }),
    ]) {
      await expect(withPlugins(plugin).api(ConfigMap).create(settings())).rejects.toMatchObject({ code: 429 });
    }
  });

  test('allows a user-defined plugin to be asynchronous', async () => {
    const plugin = defineAdmission({
      name: 'Slow',
      kind: ConfigMap,
      async mutate(draft) {
        await Promise.resolve();
        draft.data = { ...draft.data, b: '2' };
      },
    });
    expect((await withPlugins(plugin).api(ConfigMap).create(settings())).data).toEqual({ a: '1', b: '2' });
  });

  test('allows a user-defined plugin to handle subresources', async () => {
    const calls: string[] = [];
    const plugin = defineAdmission({
      name: 'Statuses',
      on: ['UPDATE'],
      kind: Pod,
      subresource: ['status', ''],
      validate: ({ subresource, object }) => void calls.push(`${subresource}:${object.metadata.name}`),
    });
    const cluster = withPlugins(plugin);
    await cluster.api(Pod).create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await cluster
      .api(Pod)
      .subresource('status')
      .patch('p', mergePatch({ status: { message: 'm' } } as never));
    expect(calls).toEqual(['status:p']);
  });

  test('sees and changes objects in its own version, whatever version the client uses', async () => {
    const seen: unknown[] = [];
    const plugin = defineAdmission({
      name: 'Metrics',
      kind: HorizontalPodAutoscaler,
      mutate(draft) {
        draft.spec.metrics = [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ];
      },
      validate: ({ object }) => void seen.push(object.apiVersion, object.spec.metrics?.[0]?.type),
    });
    const cluster = withPlugins(plugin);
    const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 3 };
    const made = await cluster.api(HorizontalPodAutoscalerV1).create({ metadata: { name: 'h' }, spec });
    expect(made.spec).toMatchObject({ targetCPUUtilizationPercentage: 50 });
    expect(seen).toEqual(['autoscaling/v2', 'Resource']);
  });
});

describe('misuse of defineAdmission', () => {
  test('fails a write whose mutate returns a value, naming the plugin', async () => {
    const mutate = (draft: object) => ({ ...draft });
    const plugin = defineAdmission({ name: 'Returns', kind: ConfigMap, mutate: mutate as never });
    await expect(withPlugins(plugin).api(ConfigMap).create(settings())).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining('mutate of "Returns" returned a value; it must change the draft in place'),
    });
  });

  test.each([
    ['a number', 1],
    ['true', true],
    ['a mix of strings and field errors', ['a', fieldError('required', 'b')]],
  ])('fails a write whose validate returns %s', async (_, result) => {
    const plugin = defineAdmission({ name: 'Odd', kind: ConfigMap, validate: (() => result) as never });
    await expect(withPlugins(plugin).api(ConfigMap).create(settings())).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining('validate of "Odd" returned something else'),
    });
  });

  const validate = () => [];
  // Kinds are too big to be printed in the names of tests.
  test.each<[string, object, string]>([
    ['no name', { name: undefined }, 'defineAdmission needs a name'],
    ['neither mutate nor validate', { validate: undefined }, '"X": it needs mutate or validate, or both'],
    [
      'the name of a kind instead of a kind',
      { kind: 'Pod' },
      '"X": "Pod" is not a kind; a kind is a value: import { Pod }',
    ],
    ['no kind', { kind: undefined }, '"X": undefined is not a kind'],
    ['an empty list of kinds', { kind: [] }, '"X": it needs at least one kind'],
    ['an unknown operation', { on: ['PATCH'] }, '"X": there is no operation "PATCH"; there are CREATE'],
    ['no operation', { on: [] }, '"X": on must be a non-empty list of operations'],
    ['mutate on DELETE', { on: ['DELETE'], mutate: validate }, '"X": on DELETE there is nothing to mutate'],
    ['an unknown subresource', { subresource: 'scale' }, '"X": Pod has no subresource "scale"; there are'],
    ['a misspelled option', { validates: validate }, 'has no option "validates"'],
  ])('rejects %s', (_, part, message) => {
    expect(() => defineAdmission({ name: 'X', kind: Pod, validate, ...part } as never)).toThrow(message);
  });
});
