/** The commands of the page "Checks and types" print what the page says, and its blocks with files are those files. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireBuild } from '../package/manifest.js';
import { ConsoleFolder, stepsOf } from './console.js';
import { fences } from './fences.js';

const page = 'docs/guide/26-checks-and-types.md';
const blocks = fences.filter(({ file }) => file === page);
const path = mkdtempSync(join(tmpdir(), 'orchplane-checks-'));
let folder: ConsoleFolder;

beforeAll(() => {
  requireBuild();
  folder = new ConsoleFolder(path);
});
afterAll(() => rmSync(path, { recursive: true }));

describe(page, () => {
  test('has commands and files', () => {
    expect(blocks.filter(({ info }) => info === 'console').length).toBeGreaterThan(5);
    expect(blocks.filter(({ info }) => info.includes('file=')).length).toBeGreaterThan(4);
  });

  for (const block of blocks) {
    if (block.info.includes('file=')) {
      test(`writes the file of line ${block.line}`, () => {
        expect(folder.write(block)).toBe(true);
      });
    }
    if (block.info !== 'console') continue;
    for (const step of stepsOf(block)) {
      test(`runs line ${step.line}: ${step.command}`, () => {
        // Empty lines at the end of a block cannot be written.
        expect(folder.run(step).trimEnd()).toBe(step.expected.trimEnd());
      });
    }
  }
});
