import { expect, test } from 'vitest';
import { api, define, widget } from '../custom-kinds/widgets.js';
import { testCluster } from 'orchplane/testing';
test('x', async () => {
  const c = testCluster({ dialect: 'kubernetes' }); await define(c);
  const w = await api(c).create(widget('w', {a:1}), {fieldManager:'me'}); expect(JSON.stringify(w)).toBe('');
});
