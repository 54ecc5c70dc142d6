/** Validation of Ingresses and IngressClasses. */
import { mergePatch } from 'orchplane';
import { Ingress, IngressClass } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { IngressClassSpecInput, IngressSpecInput } from '../../../../src/kinds/generated/networking-v1.js';
import { rejectionCauses } from '../rejections.js';

const service = (port: object = { number: 80 }, name = 's') => ({ service: { name, port } });
const path = (more: object = {}) => ({ path: '/', pathType: 'Prefix' as const, backend: service(), ...more });
const rules = (...paths: object[]) =>
  [{ host: 'a.example.com', http: { paths } }] as IngressSpecInput['rules'] & object;
const metadata = { name: 'a' };
const create = (spec: IngressSpecInput, annotations: Record<string, string> = {}) =>
  testCluster()
    .api(Ingress)
    .create({ metadata: { name: 'a', annotations }, spec });

const BACKEND = 'spec.rules[0].http.paths[0].backend';
const PATH = 'spec.rules[0].http.paths[0].path';
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

describe('an Ingress', () => {
  test('shows the absent API group of a resource as null', async () => {
    const resource = { kind: 'Bucket', name: 'b' };
    const { spec } = await create({ defaultBackend: { resource }, rules: rules(path({ backend: { resource } })) });
    const shown = { resource: { apiGroup: null, ...resource } };
    expect([spec.defaultBackend, spec.rules?.[0]?.http?.paths[0]?.backend]).toEqual([shown, shown]);
  });

  test.each<[string, IngressSpecInput, string[]]>([
    [
      'neither rules nor a default backend',
      {},
      ['spec: Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified'],
    ],
    [
      'an empty default backend',
      { defaultBackend: {} },
      ['spec.defaultBackend: Invalid value: "": resource or service backend is required'],
    ],
    ['no paths', { rules: [{ http: { paths: [] } }] }, ['spec.rules[0].http.paths: Required value']],
    [
      'no path type',
      { rules: rules({ backend: service() }) },
      ['spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified'],
    ],
    [
      'an unknown path type',
      { rules: rules(path({ pathType: 'Glob' })) },
      [
        'spec.rules[0].http.paths[0].pathType: Unsupported value: "Glob": supported values: "Exact", "ImplementationSpecific", "Prefix"',
      ],
    ],
    [
      'a relative path',
      { rules: rules(path({ path: 'a' })) },
      [`${PATH}: Invalid value: "a": must be an absolute path`],
    ],
    [
      'a path with a parent directory segment',
      { rules: rules(path({ path: '/a//b/..' })) },
      [
        `${PATH}: Invalid value: "/a//b/..": must not contain '//'`,
        `${PATH}: Invalid value: "/a//b/..": cannot end with '/..'`,
      ],
    ],
    [
      'both a service and a resource backend',
      { rules: rules(path({ backend: { ...service(), resource: { kind: 'X', name: 'y' } } })) },
      [`${BACKEND}: Invalid value: "": cannot set both resource and service backends`],
    ],
    [
      'a resource without kind and name',
      { rules: rules(path({ backend: { resource: { apiGroup: 'A', kind: '', name: 'a/b' } } })) },
      [
        `${BACKEND}.resource.apiGroup: Invalid value: "A": ${SUBDOMAIN}`,
        `${BACKEND}.resource.kind: Required value: kind is required`,
        `${BACKEND}.resource.name: Invalid value: "a/b": may not contain '/'`,
      ],
    ],
    [
      'a service without name and port',
      { rules: rules(path({ backend: service({}, '') })) },
      [`${BACKEND}.service.name: Required value`, `${BACKEND}: Required value: port name or number is required`],
    ],
    [
      'a port by name and number',
      { rules: rules(path({ backend: service({ name: 'web', number: 80 }) })) },
      [`${BACKEND}: Invalid value: "": cannot set both port name & port number`],
    ],
    [
      'a port out of range',
      { rules: rules(path({ backend: service({ number: 70000 }) })) },
      [`${BACKEND}.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive`],
    ],
    [
      'an IP address as host',
      { rules: [{ host: '1.2.3.4' }] },
      ['spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address'],
    ],
    [
      'an invalid TLS host',
      { defaultBackend: service(), tls: [{ hosts: ['A_B'] }] },
      [`spec.tls[0].hosts[0]: Invalid value: "A_B": ${SUBDOMAIN}`],
    ],
    [
      'an invalid secret name',
      { defaultBackend: service(), tls: [{ secretName: 'A_B' }] },
      [`spec.tls[0].secretName: Invalid value: "A_B": ${SUBDOMAIN}`],
    ],
    [
      'an invalid class name',
      { defaultBackend: service(), ingressClassName: 'A' },
      [`spec.ingressClassName: Invalid value: "A": ${SUBDOMAIN}`],
    ],
  ])('rejects an Ingress with %s', async (_, spec, causes) => {
    expect(await rejectionCauses(create(spec))).toEqual(causes);
  });

  test('allows an Ingress to omit the path with ImplementationSpecific, and have wildcard hosts', async () => {
    const spec = {
      rules: [{ host: '*.a.com', http: { paths: [path({ path: '', pathType: 'ImplementationSpecific' })] } }],
    };
    await expect(create(spec)).resolves.toMatchObject({ metadata: { generation: 1 }, status: { loadBalancer: {} } });
    expect((await rejectionCauses(create({ rules: [{ host: 'a.*' }] })))[0]).toContain('a wildcard DNS-1123 subdomain');
  });

  test('warns about the class annotation, and is rejected if the field is set as well', async () => {
    const warnings: string[] = [];
    const ingresses = testCluster({ client: { onWarning: (text) => warnings.push(text) } }).api(Ingress);
    const input = { metadata: { name: 'a', annotations: { 'orch.io/ingress.class': 'x' } } };
    const rejected = ingresses.create({ ...input, spec: { defaultBackend: service(), ingressClassName: 'y' } });
    expect(await rejectionCauses(rejected)).toEqual([
      'annotations.orch.io/ingress.class: Invalid value: "x": must match `ingressClassName` when both are specified',
    ]);
    await ingresses.create({ ...input, spec: { defaultBackend: service() } });
    expect(warnings).toEqual([
      `annotation "orch.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
    ]);
    const updated = await ingresses.patch('a', mergePatch({ spec: { ingressClassName: 'y' } }));
    expect(updated.metadata.generation).toBe(2);
  });

  test('has a status with its own validation', async () => {
    const ingresses = testCluster().api(Ingress);
    await ingresses.create({ metadata, spec: { defaultBackend: service() } });
    const set = (ingress: object) =>
      ingresses.status.patch('a', mergePatch({ status: { loadBalancer: { ingress: [ingress] } } } as never));
    expect(await rejectionCauses(set({ ip: 'x' }))).toEqual([
      'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ]);
    expect(await rejectionCauses(set({ hostname: '1.2.3.4' }))).toEqual([
      'status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    ]);
    await expect(set({ ip: '1.2.3.4' })).resolves.toMatchObject({ metadata: { generation: 1 } });
  });
});

describe('an IngressClass', () => {
  const classes = () => testCluster().api(IngressClass);
  const parameters = (more: object) => ({ controller: 'a.io/c', parameters: { kind: 'P', name: 'p', ...more } });

  test.each<[string, IngressClassSpecInput, string[]]>([
    ['no controller', {}, ['spec.controller: Required value']],
    [
      'a controller without a domain',
      { controller: 'c' },
      ['spec.controller: Invalid value: "c": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'a controller with invalid characters',
      { controller: 'a.io/#' },
      [
        `spec.controller: Invalid value: "#": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`,
      ],
    ],
    [
      'a long controller',
      { controller: `a.io/${'c'.repeat(250)}` },
      ['spec.controller: Too long: may not be more than 250 bytes'],
    ],
    [
      'parameters with an unknown scope',
      parameters({ scope: 'Elsewhere' }) as IngressClassSpecInput,
      ['spec.parameters.scope: Unsupported value: "Elsewhere": supported values: "Cluster", "Namespace"'],
    ],
    [
      'a namespace of cluster-scoped parameters',
      parameters({ namespace: 'n' }),
      ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
    ],
    [
      'namespaced parameters without a namespace',
      parameters({ scope: 'Namespace' }),
      ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
    ],
  ])('rejects an IngressClass with %s', async (_, spec, causes) => {
    expect(await rejectionCauses(classes().create({ metadata, spec }))).toEqual(causes);
  });

  test('has cluster-scoped parameters by default, and an immutable controller', async () => {
    const api = classes();
    const created = await api.create({ metadata, spec: parameters({}) });
    expect(created.spec.parameters?.scope).toBe('Cluster');
    expect(await rejectionCauses(api.patch('a', mergePatch({ spec: { controller: 'b.io/c' } })))).toEqual([
      'spec.controller: Invalid value: "b.io/c": field is immutable',
    ]);
  });
});
