/** User-defined kinds: the zod schema determines validation, defaulting and pruning. */
import { defineKind, fieldError, mergePatch, status } from 'orchplane';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: {
    spec: z.object({
      size: z.enum(['s', 'm', 'l']).default('m'),
      parts: z.array(z.string()).max(3).optional(),
      note: z.string().nullable().optional(),
      limits: z.object({ cpu: z.int().min(1) }).optional(),
    }),
    status: z.object({ ready: z.boolean() }).optional(),
  },
  subresources: { status },
  validate: (widget) =>
    widget.spec.parts?.includes('bomb') ? [fieldError('forbidden', 'spec.parts', { detail: 'no bombs' })] : [],
});

function widgets() {
  const cluster = testCluster();
  cluster.install(Widget);
  return cluster.api(Widget);
}

const invalid = (...causes: { field: string; message?: string }[]) => ({
  reason: 'Invalid',
  status: { details: { causes } },
});

describe('the names of a user-defined kind', () => {
  const named = (kind: string, names = {}) =>
    defineKind({ apiVersion: 'example.com/v1', kind, scope: 'Cluster', names, body: { a: z.string() } }).names;

  test('derives the names of a user-defined kind from the kind', () => {
    expect(named('Widget')).toEqual({
      plural: 'widgets',
      singular: 'widget',
      listKind: 'WidgetList',
      shortNames: [],
      categories: [],
    });
  });

  test.each([
    ['Box', 'boxes'],
    ['Class', 'classes'],
    ['Batch', 'batches'],
    ['Policy', 'policies'],
    ['Gateway', 'gateways'],
  ])('derives the English plural of %s as %s', (kind, plural) => {
    expect(named(kind).plural).toBe(plural);
  });

  test('accepts explicit names of a user-defined kind', () => {
    expect(named('Sheep', { plural: 'sheep', shortNames: ['sh'] })).toMatchObject({
      plural: 'sheep',
      shortNames: ['sh'],
    });
  });

  test('validates the names of a user-defined kind', () => {
    expect(() => named('widget')).toThrow(new TypeError('"widget" is not a CamelCase kind'));
    expect(() =>
      defineKind({ apiVersion: 'a/b/c', kind: 'Widget', scope: 'Cluster', body: { a: z.string() } }),
    ).toThrow(new TypeError('"a/b/c" is not an apiVersion'));
  });
});

describe('zod defaults', () => {
  test('applies and stores zod defaults', async () => {
    const api = widgets();
    expect((await api.create({ metadata: { name: 'w' }, spec: {} })).spec).toEqual({ size: 'm' });
    expect((await api.get('w')).spec.size).toBe('m');
  });

  test('applies zod defaults again when a patch removes the value', async () => {
    const api = widgets();
    await api.create({ metadata: { name: 'w' }, spec: { size: 'l' } });
    expect((await api.patch('w', mergePatch({ spec: { size: null } }))).spec.size).toBe('m');
  });
});

describe('zod validation', () => {
  test('reports all problems in one Invalid error', async () => {
    const spec = { size: 'xl', parts: ['a', 'b', 'c', 'd'], limits: { cpu: 0 } };
    await expect(widgets().create({ metadata: { name: 'w' }, spec: spec as never })).rejects.toMatchObject({
      code: 422,
      message: expect.stringMatching(/^Widget\.example\.com "w" is invalid: \[/),
      ...invalid(
        { field: 'spec.size', message: 'Unsupported value: "xl": supported values: "s", "m", "l"' },
        { field: 'spec.parts', message: 'Too many: 4: must have at most 3 items' },
        {
          field: 'spec.limits.cpu',
          message: 'Invalid value: 0: spec.limits.cpu in body should be greater than or equal to 1',
        },
      ),
    });
  });

  test('reports a missing field by its path', async () => {
    await expect(widgets().create({ metadata: { name: 'w' } } as never)).rejects.toMatchObject(
      invalid({ field: 'spec', message: 'Required value' }),
    );
  });

  test('reports a value of the wrong type', async () => {
    await expect(widgets().create({ metadata: { name: 'w' }, spec: { parts: 'one' as never } })).rejects.toMatchObject(
      invalid({
        field: 'spec.parts',
        message: 'Invalid value: "string": spec.parts in body must be of type array: "string"',
      }),
    );
  });

  test('runs on update', async () => {
    const api = widgets();
    await api.create({ metadata: { name: 'w' }, spec: {} });
    await expect(api.patch('w', mergePatch({ spec: { size: 'xl' as never } }))).rejects.toMatchObject(
      invalid({ field: 'spec.size' }),
    );
  });
});

describe('the validate function of a kind', () => {
  test('adds its problems to those of zod', async () => {
    await expect(
      widgets().create({ metadata: { name: 'w' }, spec: { size: 'xl' as never, parts: ['bomb'] } }),
    ).rejects.toMatchObject(invalid({ field: 'spec.size' }, { field: 'spec.parts', message: 'Forbidden: no bombs' }));
  });

  test('runs on update', async () => {
    const api = widgets();
    await api.create({ metadata: { name: 'w' }, spec: {} });
    await expect(api.patch('w', mergePatch({ spec: { parts: ['bomb'] } }))).rejects.toMatchObject(
      invalid({ field: 'spec.parts', message: 'Forbidden: no bombs' }),
    );
  });

  test('does not call the validate function for an object that fails the schema', async () => {
    const validatedSizes: unknown[] = [];
    const Careful = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Careful',
      scope: 'Namespaced',
      body: { spec: z.object({ parts: z.array(z.string()) }) },
      // This function relies on the zod schema; other values would make it throw.
      validate: (object) => {
        validatedSizes.push(object.spec.parts.length);
        return [];
      },
    });
    const cluster = testCluster();
    cluster.install(Careful);
    await expect(cluster.api(Careful).create({ metadata: { name: 'a' }, spec: {} as never })).rejects.toMatchObject(
      invalid({ field: 'spec.parts', message: 'Required value' }),
    );
    expect(validatedSizes).toEqual([]);
  });
});

describe('unknown fields of a user-defined kind', () => {
  test('prunes unknown fields of a user-defined kind at every level', async () => {
    const sent = { metadata: { name: 'w' }, spec: { size: 's', extra: 1, limits: { cpu: 1, gpu: 2 } }, other: true };
    const stored = await widgets().create(sent as never);
    expect(stored).not.toHaveProperty('other');
    expect(stored.spec).toEqual({ size: 's', limits: { cpu: 1 } });
  });

  test('keeps unknown fields of a user-defined kind in a loose object', async () => {
    const Bag = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Bag',
      scope: 'Namespaced',
      body: { spec: z.looseObject({}) },
    });
    const cluster = testCluster();
    cluster.install(Bag);
    const stored = await cluster.api(Bag).create({ metadata: { name: 'b' }, spec: { any: { thing: [1] } } });
    expect(stored.spec).toEqual({ any: { thing: [1] } });
  });
});

describe('a stored object of a user-defined kind', () => {
  test('keeps null in place of an object, a map or a list where the schema allows it', async () => {
    const spec = z.object({
      part: z.object({ a: z.string() }).nullable(),
      map: z.record(z.string(), z.string()).nullable(),
      list: z.array(z.string()).nullable(),
    });
    const Box = defineKind({ apiVersion: 'example.com/v1', kind: 'Box', scope: 'Cluster', body: { spec } });
    const empty = { part: null, map: null, list: null };
    const cluster = testCluster();
    cluster.install(Box);
    expect((await cluster.api(Box).create({ metadata: { name: 'a' }, spec: empty })).spec).toEqual(empty);
  });

  test('keeps empty values, and null only where the schema allows it', async () => {
    const stored = await widgets().create({
      metadata: { name: 'w' },
      spec: { parts: [], note: null, limits: null as never },
    });
    expect(stored.spec).toEqual({ note: null, parts: [], size: 'm' });
  });

  test('has its keys in alphabetical order at every level of the body', async () => {
    const stored = await widgets().create({
      metadata: { name: 'w' },
      spec: { size: 's', parts: [], limits: { cpu: 1 } },
    });
    expect(Object.keys(stored)).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    expect(Object.keys(stored.spec)).toEqual(['limits', 'parts', 'size']);
  });
});

describe('the status of a user-defined kind', () => {
  test('neither sets the status in a create nor changes it in an update', async () => {
    const api = widgets();
    const created = await api.create({ metadata: { name: 'w' }, spec: {}, status: { ready: true } });
    expect(created).not.toHaveProperty('status');
    await api.status.edit('w', (widget) => {
      widget.status = { ready: false };
    });
    const updated = await api.patch('w', mergePatch({ spec: { size: 'l' }, status: { ready: true } }));
    expect(updated).toMatchObject({ spec: { size: 'l' }, status: { ready: false } });
  });

  test('changes only the status through the status subresource', async () => {
    const api = widgets();
    await api.create({ metadata: { name: 'w', labels: { a: 'b' } }, spec: {} });
    const stored = await api.status.edit('w', (widget) => {
      widget.status = { ready: true };
      widget.spec.size = 'l';
      widget.metadata.labels = { changed: 'yes' };
      widget.metadata.finalizers = ['example.com/hold'];
    });
    expect(stored).toMatchObject({ spec: { size: 'm' }, status: { ready: true } });
    expect(stored.metadata.labels).toEqual({ a: 'b' });
    expect(stored.metadata).not.toHaveProperty('finalizers');
  });

  test('validates the status of a user-defined kind by its own schema', async () => {
    const api = widgets();
    await api.create({ metadata: { name: 'w' }, spec: {} });
    await expect(api.status.patch('w', mergePatch({ status: { ready: 'soon' as never } }))).rejects.toMatchObject({
      reason: 'Invalid',
    });
  });

  test('requires the current resourceVersion', async () => {
    const api = widgets();
    const read = await api.create({ metadata: { name: 'w' }, spec: {} });
    await api.patch('w', mergePatch({ spec: { size: 'l' } }));
    await expect(api.status.update('w', { ...read, status: { ready: true } })).rejects.toMatchObject({
      reason: 'Conflict',
    });
    await expect(
      api.status.update('w', { metadata: { name: 'w' }, spec: {}, status: { ready: true } }),
    ).rejects.toMatchObject({ reason: 'Invalid' });
  });

  test('returns the whole object through the status subresource', async () => {
    const api = widgets();
    const stored = await api.create({ metadata: { name: 'w' }, spec: {} });
    expect(await api.status.get('w')).toBe(stored);
  });

  test('treats status as ordinary data without a status subresource', async () => {
    const Plain = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Plain',
      scope: 'Namespaced',
      body: { status: z.object({ ready: z.boolean() }).optional() },
    });
    const cluster = testCluster();
    cluster.install(Plain);
    const stored = await cluster.api(Plain).create({ metadata: { name: 'p' }, status: { ready: true } });
    expect(stored.status).toEqual({ ready: true });
    const changed = await cluster.api(Plain).patch('p', mergePatch({ status: { ready: false } }));
    expect(changed.metadata.generation).toBe(2);
  });
});

describe('the generation of a user-defined kind', () => {
  test('starts at one, regardless of the value that the client sends', async () => {
    const stored = await widgets().create({ metadata: { name: 'w', generation: 7 }, spec: {} });
    expect(stored.metadata.generation).toBe(1);
  });

  test('increments the generation only for changes of the spec', async () => {
    const api = widgets();
    await api.create({ metadata: { name: 'w' }, spec: {} });
    const generation = async () => (await api.get('w')).metadata.generation;
    await api.patch('w', mergePatch({ metadata: { labels: { a: 'b' } } }));
    expect(await generation()).toBe(1);
    await api.status.edit('w', (widget) => {
      widget.status = { ready: true };
    });
    expect(await generation()).toBe(1);
    await api.patch('w', mergePatch({ spec: { size: 'l' } }));
    expect(await generation()).toBe(2);
    await api.patch('w', mergePatch({ metadata: { generation: 9 } }));
    expect(await generation()).toBe(2);
  });
});

describe('an update of a user-defined kind', () => {
  test('rejects an update without a resourceVersion with the plural name of the kind', async () => {
    const api = widgets();
    await api.create({ metadata: { name: 'w' }, spec: {} });
    await expect(api.update({ metadata: { name: 'w' }, spec: {} })).rejects.toMatchObject({
      message:
        'widgets.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
      ...invalid({ field: 'metadata.resourceVersion' }),
    });
  });
});

describe('finalizers of a user-defined kind', () => {
  test('accepts finalizers without a domain with a warning, unlike in built-in kinds', async () => {
    const warnings: string[] = [];
    const cluster = testCluster({ client: { onWarning: (warning) => warnings.push(warning) } });
    cluster.install(Widget);
    const stored = await cluster.api(Widget).create({ metadata: { name: 'w', finalizers: ['hold'] }, spec: {} });
    expect(stored.metadata.finalizers).toEqual(['hold']);
    expect(warnings).toEqual([
      'metadata.finalizers: "hold": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ]);
  });
});

describe('field selectors of a user-defined kind', () => {
  test('supports field selectors for name and namespace only', async () => {
    const api = widgets();
    await api.create({ metadata: { name: 'w' }, spec: {} });
    expect((await api.list({ fields: 'metadata.name=w,metadata.namespace=default' })).items).toHaveLength(1);
    await expect(api.list({ fields: 'spec.size=m' })).rejects.toMatchObject({
      reason: 'BadRequest',
      message: 'field label not supported: spec.size',
    });
  });
});
