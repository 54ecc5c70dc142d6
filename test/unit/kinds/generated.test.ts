/**
 * The generated files under src must match the tables in src/kinds/types.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const generator = fileURLToPath(new URL('../../../src/kinds/types/generate.mjs', import.meta.url));

test('has current generated types, schemas and protobuf messages', () => {
  const { status, stderr } = spawnSync(process.execPath, [generator, '--check'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
