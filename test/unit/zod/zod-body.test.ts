/** Types of built-in kinds as zod schemas: parsing documents, use in user-defined kinds, conversion to CRDs. */
import { createCluster, defineKind, toCRD } from 'orchplane';
import { CustomResourceDefinition, Deployment, Job, Node, Service } from 'orchplane/kinds';
import { zodBody } from 'orchplane/zod';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
const deploymentSpec = { replicas: 2, selector: { matchLabels: labels }, template };

describe('zodBody', () => {
  test('returns schemas of the fields other than apiVersion, kind and metadata', () => {
    expect(Object.keys(zodBody(Deployment))).toEqual(['spec', 'status']);
    expect(zodBody(Deployment).spec.safeParse(deploymentSpec).success).toBe(true);
  });

  test('rejects a value of the wrong type and a missing field, with its path', () => {
    const { error } = zodBody(Deployment).spec.safeParse({ ...deploymentSpec, replicas: 'two', template: {} });
    const paths = error?.issues.map(({ path }) => path.join('.'));
    expect(paths).toContain('replicas');
  });

  test('accepts integers, quantities and ports in all forms that the server accepts', () => {
    const { spec } = zodBody(Service);
    expect(
      spec.safeParse({
        ports: [
          { port: 80, targetPort: 'http' },
          { port: 81, targetPort: 8081 },
        ],
      }).success,
    ).toBe(true);
    const { status } = zodBody(Node);
    expect(status.safeParse({ capacity: { cpu: 4, memory: '8Gi' } }).success).toBe(true);
  });

  test('handles a type that contains itself', () => {
    const { spec } = zodBody(CustomResourceDefinition);
    const schema = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'object', properties: {} } } } };
    const names = { kind: 'A', plural: 'as' };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    expect(spec.safeParse({ group: 'example.com', scope: 'Cluster', names, versions }).success).toBe(true);
  });
});

describe('a user-defined kind with a built-in type', () => {
  const Fleet = defineKind({
    apiVersion: 'example.com/v1',
    kind: 'Fleet',
    scope: 'Cluster',
    body: {
      deployment: zodBody(Deployment).spec,
      nested: z.object({ job: zodBody(Job).spec.optional() }).optional(),
    },
  });

  test('stores an object and applies the defaults of the built-in type', async () => {
    const fleets = createCluster({ kinds: [Fleet] }).api(Fleet);
    const stored = await fleets.create({
      metadata: { name: 'a' },
      deployment: deploymentSpec,
      nested: { job: { template: { spec: { containers: [{ name: 'a', image: 'a' }], restartPolicy: 'Never' } } } },
    });
    expect(stored.deployment).toMatchObject({ replicas: 2, template: { spec: { containers: [{ name: 'web' }] } } });
    expect(stored.nested?.job?.template.spec).toMatchObject({ restartPolicy: 'Never' });
  });

  test('has a CRD that a server accepts', () => {
    const spec = toCRD(Fleet).spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['deployment'];
    const pod = spec?.properties?.['template']?.properties?.['spec']?.properties;
    const secrets = pod?.['imagePullSecrets']?.items as { properties: Record<string, unknown> };
    expect(secrets.properties['name']).toEqual({ type: 'string', default: '' });
  });

  test('keeps list types, map types and int-or-string fields in its CRD', () => {
    const body = { service: zodBody(Service).spec };
    const Route = defineKind({ apiVersion: 'example.com/v1', kind: 'Route', scope: 'Cluster', body });
    const crd = toCRD(Route, { dialect: 'kubernetes' });
    const schema = crd.spec.versions[0]?.schema?.openAPIV3Schema?.properties;
    const port = schema?.['service']?.properties;
    expect(port?.['ports']).toMatchObject({ 'x-kubernetes-list-type': 'map' });
    expect(port?.['selector']).toMatchObject({ 'x-kubernetes-map-type': 'atomic' });
    const items = port?.['ports']?.items as { properties: Record<string, unknown> };
    expect(items.properties['targetPort']).toMatchObject({ 'x-kubernetes-int-or-string': true });
  });
});
