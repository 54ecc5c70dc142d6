/** Validation of webhook configurations. */
import type { ApiObject, Kind } from 'orchplane';
import { mergePatch } from 'orchplane';
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { rejectionCauses } from '../rejections.js';

const webhook = {
  name: 'a.b.example.com',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { url: 'https://h/x' },
};

function configurations(kind: typeof ValidatingWebhookConfiguration) {
  const cluster = testCluster();
  cluster.install(kind);
  return cluster.api(kind);
}

const create = (...webhooks: object[]) =>
  configurations(ValidatingWebhookConfiguration).create({ metadata: { name: 'w' }, webhooks } as never);

test('sets the defaults of a webhook', async () => {
  const clientConfig = { service: { name: 's', namespace: 'n' } };
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }];
  const kinds = [ValidatingWebhookConfiguration, MutatingWebhookConfiguration as never];
  for (const kind of kinds as (typeof ValidatingWebhookConfiguration)[]) {
    const created = await configurations(kind).create({
      metadata: { name: 'w' },
      webhooks: [{ ...webhook, clientConfig, rules }],
    } as never);
    expect(created.metadata.generation).toBe(1);
    expect(created.webhooks?.[0]).toEqual({
      name: 'a.b.example.com',
      clientConfig: { service: { namespace: 'n', name: 's', port: 443 } },
      rules: [{ ...rules[0], scope: '*' }],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      sideEffects: 'None',
      timeoutSeconds: 10,
      admissionReviewVersions: ['v1'],
      ...(kind.kind === 'MutatingWebhookConfiguration' ? { reinvocationPolicy: 'Never' } : {}),
    });
  }
});

test('increments the generation when the webhooks change', async () => {
  const api = configurations(ValidatingWebhookConfiguration);
  await api.create({ metadata: { name: 'w' }, webhooks: [webhook] } as never);
  expect((await api.patch('w', mergePatch({ metadata: { labels: { a: 'b' } } }))).metadata.generation).toBe(1);
  expect((await api.patch('w', mergePatch({ webhooks: [] }))).metadata.generation).toBe(2);
});

const W = 'webhooks[0]';
const FORM = '; desired format: https://host[/path]';

test.each<[string, object, string[]]>([
  ['no name', { name: '' }, [`${W}.name: Required value`]],
  [
    'a short name',
    { name: 'a.b' },
    [`${W}.name: Invalid value: "a.b": should be a domain with at least three segments separated by dots`],
  ],
  [
    'unknown enum values',
    { failurePolicy: 'x', matchPolicy: 'y', sideEffects: 'Some' },
    [
      `${W}.failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"`,
      `${W}.matchPolicy: Unsupported value: "y": supported values: "Equivalent", "Exact"`,
      `${W}.sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`,
    ],
  ],
  [
    'no sideEffects',
    { sideEffects: null },
    [`${W}.sideEffects: Required value: must specify one of None, NoneOnDryRun`],
  ],
  [
    'a timeout above the maximum',
    { timeoutSeconds: 31 },
    [`${W}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`],
  ],
  [
    'an empty rule',
    { rules: [{}] },
    ['operations', 'apiGroups', 'apiVersions', 'resources'].map((field) => `${W}.rules[0].${field}: Required value`),
  ],
  [
    'no admissionReviewVersions',
    { admissionReviewVersions: [] },
    [`${W}.admissionReviewVersions: Required value: must specify one of v1, v1beta1`],
  ],
  [
    'unsupported admissionReviewVersions',
    { admissionReviewVersions: ['v2', 'v2'] },
    [
      `${W}.admissionReviewVersions[1]: Invalid value: "v2": duplicate version`,
      `${W}.admissionReviewVersions: Invalid value: []string{"v2", "v2"}: must include at least one of v1, v1beta1`,
    ],
  ],
  [
    'an empty clientConfig',
    { clientConfig: {} },
    [`${W}.clientConfig: Required value: exactly one of url or service is required`],
  ],
  [
    'a URL with forbidden parts',
    { clientConfig: { url: 'http://u:p@/x?q#f' } },
    [
      `${W}.clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme${FORM}`,
      `${W}.clientConfig.url: Invalid value: "": host must be specified${FORM}`,
      `${W}.clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL`,
      `${W}.clientConfig.url: Invalid value: "f": fragments are not permitted in the URL`,
      `${W}.clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL`,
    ],
  ],
  [
    'a URL without a scheme',
    { clientConfig: { url: ':x' } },
    [`${W}.clientConfig.url: Required value: url must be a valid URL: parse ":x": missing protocol scheme${FORM}`],
  ],
  [
    'an invalid escape sequence in its URL',
    { clientConfig: { url: 'https://h/%zz' } },
    [
      `${W}.clientConfig.url: Required value: url must be a valid URL: parse "https://h/%zz": invalid URL escape "%zz"${FORM}`,
    ],
  ],
  [
    'an invalid port',
    { clientConfig: { url: 'https://h:x/' } },
    [
      `${W}.clientConfig.url: Required value: url must be a valid URL: parse "https://h:x/": invalid port ":x" after host${FORM}`,
    ],
  ],
  [
    'an incomplete service',
    { clientConfig: { service: { name: 's', port: 0 } } },
    [
      `${W}.clientConfig.service.name: Required value: service name is required`,
      `${W}.clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive`,
    ],
  ],
  [
    'an invalid path',
    { clientConfig: { service: { name: 's', namespace: 'n', path: 'ab//c' } } },
    [
      `${W}.clientConfig.service.path: Invalid value: "ab//c": must start with a '/'`,
      `${W}.clientConfig.service.path: Invalid value: "ab//c": segment[1] may not be empty`,
    ],
  ],
])('rejects a webhook with %s', async (_, more, causes) => {
  expect(await rejectionCauses(create({ ...webhook, ...more }))).toEqual(causes);
});

test('rejects two webhooks with the same name', async () => {
  expect(await rejectionCauses(create(webhook, webhook))).toEqual([
    'webhooks[1].name: Duplicate value: "a.b.example.com"',
  ]);
});

test('prints the number of webhooks in a table', () => {
  const object = { metadata: { name: 'a' }, webhooks: [{}, {}] } as unknown as ApiObject;
  for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration] as Kind[]) {
    expect(kind.columns?.map(({ cell }) => cell(object, { nowMs: 0, dialect: orchDialect }))).toEqual([
      'a',
      2,
      '<unknown>',
    ]);
  }
});
