/** The file with the termination message, which processes that a container has left behind can still replace. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readTerminationMessage } from '../../../src/node/process-images/plain-host.js';
import type { ContainerSetup } from '../../../src/runtime/index.js';

const afterCheck = vi.hoisted(() => ({ run: (): void => undefined }));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const lstatSync = (...given: Parameters<typeof fs.lstatSync>) => {
    const found = fs.lstatSync(...given);
    afterCheck.run();
    return found;
  };
  return { ...fs, lstatSync };
});

const root = mkdtempSync(join(tmpdir(), 'orchplane-message-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a pipe that takes the place of the file after it was checked is not read', () => {
  mkdirSync(join(root, 'dev'), { recursive: true });
  const [path, pipe] = [join(root, 'dev/termination-log'), join(root, 'pipe')];
  writeFileSync(path, 'message');
  execFileSync('mkfifo', [pipe]);
  // With a writer, a reader that does not notice the pipe fails instead of waiting forever.
  const writer = openSync(pipe, constants.O_RDWR);
  writeSync(writer, 'pipe');
  const written: string[] = [];
  const write = (name: string): void => void written.push(name);
  const setup = { container: {}, files: { root: { write } } } as unknown as ContainerSetup;

  readTerminationMessage(setup, root);
  expect(written).toEqual(['dev/termination-log']);

  afterCheck.run = () => renameSync(pipe, path);
  readTerminationMessage(setup, root);
  expect(written).toHaveLength(1);
  closeSync(writer);
});
