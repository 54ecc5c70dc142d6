import { test } from 'vitest';
test('11', async () => { await import('../../examples/11-access.mjs' as string); });
test('12', async () => { await import('../../examples/12-admission.mjs' as string); });
