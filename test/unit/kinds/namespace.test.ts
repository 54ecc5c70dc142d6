/** Validation of Namespaces; their effect on other kinds is tested with the server. */
import { mergePatch } from 'orchplane';
import { Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const namespaces = () => testCluster().api(Namespace);

const invalid = (...causes: { field: string; message?: string }[]) => ({
  reason: 'Invalid',
  status: { details: { causes } },
});

describe('a new Namespace', () => {
  test('creates an Active Namespace with its finalizer and the label of its name', async () => {
    expect(await namespaces().create({ metadata: { name: 'dev' } })).toMatchObject({
      metadata: { labels: { 'orch.io/metadata.name': 'dev' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  });

  test('creates an Active Namespace regardless of the phase that the client sends', async () => {
    const stored = await namespaces().create({ metadata: { name: 'dev' }, status: { phase: 'Terminating' } });
    expect(stored.status).toEqual({ phase: 'Active' });
  });

  test("keeps the client's finalizers before its own", async () => {
    const stored = await namespaces().create({ metadata: { name: 'dev' }, spec: { finalizers: ['example.com/hold'] } });
    expect(stored.spec.finalizers).toEqual(['example.com/hold', 'kubernetes']);
  });

  test('rejects a finalizer without a domain', async () => {
    const create = namespaces().create({ metadata: { name: 'dev' }, spec: { finalizers: ['mine'] } });
    await expect(create).rejects.toMatchObject(
      invalid({
        field: 'spec.finalizers',
        message: 'Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
      }),
    );
  });

  test('requires a new Namespace to have a DNS label as name', async () => {
    await expect(namespaces().create({ metadata: { name: 'a.b' } })).rejects.toMatchObject(
      invalid({ field: 'metadata.name', message: 'Invalid value: "a.b": must not contain dots' }),
    );
  });

  test("keeps the client's labels", async () => {
    const stored = await namespaces().create({ metadata: { name: 'dev', labels: { team: 'blue', a: 'b' } } });
    expect(stored.metadata.labels).toEqual({ a: 'b', 'orch.io/metadata.name': 'dev', team: 'blue' });
  });

  test('has another label in the kubernetes dialect', async () => {
    const stored = await testCluster({ dialect: 'kubernetes' }).api(Namespace).get('default');
    expect(stored.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'default' });
  });
});

describe('an update of a Namespace', () => {
  test('changes neither spec nor status', async () => {
    const api = namespaces();
    await api.create({ metadata: { name: 'dev' } });
    const stored = await api.update({
      metadata: { name: 'dev', labels: { team: 'blue' } },
      spec: { finalizers: [] },
      status: { phase: 'Terminating' },
    });
    expect(stored).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
  });

  test('does not remove the name label of a Namespace in an update', async () => {
    const api = namespaces();
    const before = await api.create({ metadata: { name: 'dev' } });
    expect(await api.patch('dev', mergePatch({ metadata: { labels: null } }))).toBe(before);
    const changed = await api.patch('dev', mergePatch({ metadata: { labels: { 'orch.io/metadata.name': 'x' } } }));
    expect(changed).toBe(before);
  });
});

describe('the status of a Namespace', () => {
  test('accepts conditions and keeps the spec', async () => {
    const api = namespaces();
    await api.create({ metadata: { name: 'dev' } });
    const condition = { type: 'Busy', status: 'True' as const, lastTransitionTime: '2030-01-01T00:00:00Z' };
    const stored = await api.status.edit('dev', (namespace) => {
      namespace.status.conditions = [condition];
      namespace.spec = {};
    });
    expect(stored.status.conditions).toEqual([condition]);
    expect(stored.spec.finalizers).toEqual(['kubernetes']);
  });

  test('sets the phase of a Namespace to Active by default', async () => {
    const api = namespaces();
    await api.create({ metadata: { name: 'dev' } });
    expect((await api.status.update('dev', { metadata: { name: 'dev' } })).status).toEqual({ phase: 'Active' });
    await api.delete('dev');
    await expect(api.status.update('dev', { metadata: { name: 'dev' } })).rejects.toMatchObject(
      invalid({
        field: 'status.Phase',
        message: 'Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
      }),
    );
  });

  test('requires the phase Active before deletion and Terminating afterwards', async () => {
    const api = namespaces();
    await api.create({ metadata: { name: 'dev' } });
    const setPhase = (phase: 'Active' | 'Terminating') =>
      api.status.edit('dev', (namespace) => {
        namespace.status.phase = phase;
      });
    await expect(setPhase('Terminating')).rejects.toMatchObject(
      invalid({
        field: 'status.Phase',
        message: 'Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
      }),
    );
    await api.delete('dev');
    await expect(setPhase('Active')).rejects.toMatchObject(
      invalid({
        field: 'status.Phase',
        message: 'Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
      }),
    );
  });

  test('supports a field selector for the phase', async () => {
    const api = namespaces();
    await api.create({ metadata: { name: 'dev' } });
    await api.delete('dev');
    const { items } = await api.list({ fields: 'status.phase=Terminating' });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['dev']);
  });
});

describe('the finalize subresource of a Namespace', () => {
  test('changes the finalizers of the spec and keeps the status', async () => {
    const api = namespaces();
    await api.create({ metadata: { name: 'dev' } });
    const stored = await api.subresource('finalize').update('dev', {
      metadata: { name: 'dev' },
      spec: { finalizers: ['example.com/hold'] },
      status: { phase: 'Terminating' },
    });
    expect(stored).toMatchObject({ spec: { finalizers: ['example.com/hold'] }, status: { phase: 'Active' } });
  });

  test('reports the index of a finalizer without a domain', async () => {
    const api = namespaces();
    await api.create({ metadata: { name: 'dev' } });
    const finalize = api
      .subresource('finalize')
      .update('dev', { metadata: { name: 'dev' }, spec: { finalizers: ['kubernetes', 'mine'] } });
    await expect(finalize).rejects.toMatchObject(invalid({ field: 'spec.finalizers[1]' }));
  });

  test('does not remove a Namespace that is not being deleted', async () => {
    const api = namespaces();
    await api.create({ metadata: { name: 'dev' } });
    await api.subresource('finalize').update('dev', { metadata: { name: 'dev' }, spec: {} });
    expect((await api.get('dev')).spec).toEqual({});
    await api.delete('dev');
    expect((await api.get('dev')).status).toMatchObject({ phase: 'Terminating' });
  });
});

describe('pod security labels of a Namespace', () => {
  const level = 'pod-security.orch.io/enforce';
  const version = 'pod-security.orch.io/enforce-version';

  test('accepts a pod security level and version', async () => {
    const labels = { [level]: 'restricted', [version]: 'v1.30' };
    expect((await namespaces().create({ metadata: { name: 'dev', labels } })).metadata.labels).toMatchObject(labels);
  });

  test('rejects an update to another value of a pod security label', async () => {
    // Without the PodSecurity plugin, which checks the labels, too.
    const api = testCluster({ admission: [] }).api(Namespace);
    await api.create({ metadata: { name: 'dev', labels: { [level]: 'restricted' } } });
    await expect(api.patch('dev', mergePatch({ metadata: { labels: { [level]: 'strict' } } }))).rejects.toThrow(
      'Invalid value: "strict": must be one of privileged, baseline, restricted',
    );
    const other = await api.patch('dev', mergePatch({ metadata: { labels: { [level]: 'baseline' } } }));
    expect(other.metadata.labels).toMatchObject({ [level]: 'baseline' });
  });

  test('rejects other values of pod security labels', async () => {
    const labels = { [level]: 'strict', [version]: '1.30' };
    await expect(namespaces().create({ metadata: { name: 'dev', labels } })).rejects.toMatchObject(
      invalid(
        {
          field: `metadata.labels[${level}]`,
          message: 'Invalid value: "strict": must be one of privileged, baseline, restricted',
        },
        { field: `metadata.labels[${version}]`, message: 'Invalid value: "1.30": must be "latest" or "v1.x"' },
      ),
    );
  });
});
