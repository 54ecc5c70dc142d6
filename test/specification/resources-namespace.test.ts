/** docs/specification.md, R10 and R11: Namespace and ComponentStatus. */
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService, pathOf } from './service.js';

describe('Namespace', () => {
  test('R10.1: scopes names, and has a phase', async () => {
    const service = openService();
    const made = await service.create('Namespace', { metadata: { name: 'n' } });
    expect(made.body.status).toEqual({ phase: 'Active' });
    const path = pathOf('ConfigMap').replace('default', 'n');
    for (const at of [path, pathOf('ConfigMap')]) {
      expect((await service.send('POST', at, { metadata: { name: 'same' } })).code).toBe(201);
    }
    await service.remove('Namespace', 'n');
    expect((await service.get('Namespace', 'n')).body.status.phase).toBe('Terminating');
  });

  test('R10.2: conditions have a type, which is their key, and a known status', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'Namespace', 'NamespaceStatus')).toEqual({
      phase: 'string',
      conditions: '[]NamespaceCondition map type',
    });
    expect(await fieldsOf(service, 'Namespace', 'NamespaceCondition')).toEqual({
      status: 'string!',
      type: 'string!',
      lastTransitionTime: 'Time',
      message: 'string',
      reason: 'string',
    });
    const put = (condition: Json) =>
      service.merge('Namespace', 'default/status', { status: { conditions: [condition] } });
    for (const status of ['True', 'False', 'Unknown']) expect((await put({ type: 'T', status })).code).toBe(200);
    const at = 'status.conditions[0]';
    expect((await put({ type: 'T' })).causes).toEqual([`${at}.status: Required`]);
    expect((await put({ status: 'True' })).causes).toEqual([`${at}.type: Required`]);
    expect((await put({ type: 'T', status: 'Maybe' })).causes).toEqual([`${at}.status: NotSupported`]);
  });

  test('R10.2: managers apply conditions by type', async () => {
    const service = openService();
    const apply = (type: string, manager: string) =>
      service.apply('Namespace', 'default/status', { status: { conditions: [{ type, status: 'True' }] } }, manager);
    await apply('One', 'one');
    const { body } = await apply('Two', 'two');
    expect(body.status.conditions.map(({ type }: Json) => type)).toEqual(['One', 'Two']);
  });

  test('R10.3: finalize replaces the finalizers', async () => {
    const service = openService();
    const { body } = await service.create('Namespace', {
      metadata: { name: 'n' },
      spec: { finalizers: ['example.com/f'] },
    });
    expect(body.spec.finalizers).toEqual(['example.com/f', 'kubernetes']);
    const next = await service.update('Namespace', 'n/finalize', { ...body, spec: { finalizers: ['example.com/g'] } });
    expect(next.body.spec.finalizers).toEqual(['example.com/g']);
  });
});

describe('ComponentStatus', () => {
  test('R11.1: has conditions with the type as key', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'ComponentStatus', 'ComponentStatus')).toMatchObject({
      conditions: '[]ComponentCondition map type',
    });
    expect(await fieldsOf(service, 'ComponentStatus', 'ComponentCondition')).toEqual({
      status: 'string!',
      type: 'string!',
      error: 'string',
      message: 'string',
    });
  });

  test('R11.2: reports whether a component is healthy', async () => {
    const { body } = await openService().list('ComponentStatus');
    expect(body.items.length).toBeGreaterThan(0);
    for (const { conditions } of body.items) {
      expect(conditions).toEqual([
        expect.objectContaining({ type: 'Healthy', status: expect.stringMatching(/^(True|False|Unknown)$/) }),
      ]);
    }
  });

  test('R11.3: is deprecated since 1.19', async () => {
    const { headers } = await openService().list('ComponentStatus');
    expect(headers.get('warning')).toContain('ComponentStatus is deprecated in v1.19+');
  });
});
