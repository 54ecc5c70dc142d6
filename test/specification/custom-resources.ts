/** CustomResourceDefinitions for the tests of R24. */
import type { Json, Service } from './service.js';

export const THINGS = '/apis/example.com/v1/namespaces/default/things';

/** The schema of a thing: any fields in spec and status. */
const OPEN: Json = { type: 'object', 'x-orch-preserve-unknown-fields': true };

export const version = (change: Json = {}): Json => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: OPEN },
  ...change,
});

/** A definition of things; the names, the versions and the rest of the spec can be changed. */
export const definition = (spec: Json = {}, name = 'things.example.com'): Json => ({
  metadata: { name },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [version()],
    ...spec,
  },
});

/** A definition with a schema for the field `value`. */
export const withSchema = (value: Json, change: Json = {}): Json =>
  definition({
    versions: [version({ schema: { openAPIV3Schema: { type: 'object', properties: { value } } }, ...change })],
  });

/** Defines things and returns functions that write them. */
export async function things(service: Service, crd: Json) {
  const made = await service.create('CustomResourceDefinition', crd);
  if (made.code !== 201) throw new Error(made.body.message);
  const post = (body: Json) =>
    service.send('POST', THINGS, {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      ...body,
      metadata: { name: 't', ...body.metadata },
    });
  return { post, get: (at = 't') => service.send('GET', `${THINGS}/${at}`), made };
}
