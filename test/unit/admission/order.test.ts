/** The reference order of plugins. */
import * as admission from 'orchplane/admission';
import { ConfigMap } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { defineAdmission } from '../../../src/admission/define.js';
import { inReferenceOrder } from '../../../src/admission/plugins/default-plugins.js';

const { defaultAdmission, serviceAccount, alwaysDeny, namespaceAutoProvision } = admission;
const mine = defineAdmission({ name: 'ServiceAccount', kind: ConfigMap, validate: () => [] });
const other = defineAdmission({ name: 'Other', kind: ConfigMap, validate: () => [] });

test('contains the default plugins in order', () => {
  expect(inReferenceOrder(defaultAdmission)).toEqual(defaultAdmission);
});

test('sorts built-in plugins, and appends user-defined ones', () => {
  const ordered = inReferenceOrder([
    alwaysDeny,
    mine,
    other,
    ...defaultAdmission,
    serviceAccount,
    namespaceAutoProvision,
  ]);
  const names = ordered.map(({ name }) => name);
  expect(names.slice(0, 4)).toEqual(['NamespaceAutoProvision', 'NamespaceLifecycle', 'LimitRanger', 'ServiceAccount']);
  expect(ordered.slice(-3)).toEqual([alwaysDeny, mine, other]);
  expect(Object.isFrozen(ordered)).toBe(true);
});

test('contains every built-in plugin', () => {
  const plugins = Object.values(admission).filter(
    (value) => typeof value === 'object' && !Array.isArray(value) && 'name' in value,
  ) as unknown as admission.AdmissionPlugin[];
  expect(plugins.length).toBeGreaterThan(30);
  const last = inReferenceOrder([mine, ...plugins]).at(-1);
  expect(last).toBe(mine);
});
