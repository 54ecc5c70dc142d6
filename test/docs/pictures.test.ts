/**
 * The pictures of the documentation are what they are said to be. `docs/tools/terminal.mjs` makes the terminal from a run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../package/manifest.js';

describe('the picture of a terminal', () => {
  const svg = readFileSync(join(root, 'docs/images/terminal.svg'), 'utf8');

  test('is a picture and nothing else: no scripts, nothing from elsewhere', () => {
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 \d+ \d+" /);
    expect(svg).not.toMatch(/<script|<foreignObject|\son\w+=|href=|url\(|@import/i);
    expect(svg).toMatch(/aria-label="[^"]+"/);
  });

  test('shows the version that the package has', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(svg).toContain(`>orchplane ${version} serves a cluster from memory<`);
  });

  test('was taken when everything went well', () => {
    expect(svg).toContain('deployment "web" successfully rolled out');
    expect(svg).toContain('Apply failed with 1 conflict');
    expect(svg).not.toMatch(/Unable to connect|not found|command not/);
  });
});
