/**
 * The pictures of the documentation are valid and current. `docs/tools/terminal.mjs` creates the terminal picture from
 * a run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../package/manifest.js';

describe('the terminal picture', () => {
  const svg = readFileSync(join(root, 'docs/images/terminal.svg'), 'utf8');

  test('contains no scripts and no external references', () => {
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 \d+ \d+" /);
    expect(svg).not.toMatch(/<script|<foreignObject|\son\w+=|href=|url\(|@import/i);
    expect(svg).toMatch(/aria-label="[^"]+"/);
  });

  test('shows the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(svg).toContain(`>orchplane ${version} serves a cluster from memory<`);
  });

  test('shows a successful run', () => {
    expect(svg).toContain('deployment "web" successfully rolled out');
    expect(svg).toContain('Apply failed with 1 conflict');
    expect(svg).not.toMatch(/Unable to connect|not found|command not/);
  });
});
