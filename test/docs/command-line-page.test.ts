/** The commands of the page "The command line" print what the page says. Those that end with `&` run until the end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireBuild, root } from '../package/manifest.js';
import { ConsoleFolder, type ConsoleStep, stepsOf } from './console.js';
import { fences } from './fences.js';

const page = 'docs/guide/25-command-line.md';
const blocks = fences.filter(({ file }) => file === page);
const path = mkdtempSync(join(tmpdir(), 'orchplane-command-line-'));
const background: ChildProcess[] = [];
let folder: ConsoleFolder;

beforeAll(() => {
  requireBuild();
  folder = new ConsoleFolder(path);
});

afterAll(() => {
  for (const child of background) child.kill('SIGKILL');
  delete process.env['KUBECONFIG'];
  rmSync(path, { recursive: true });
});

/** Starts a command and waits until it has written its kubeconfig. */
async function start(command: string): Promise<void> {
  const args = command.replace(/^npx orchplane /, '').split(' ');
  const child = spawn(process.execPath, [join(root, 'dist/node/cli.js'), ...args], { cwd: path, stdio: 'ignore' });
  background.push(child);
  const file = join(path, /--(?:client-)?kubeconfig (\S+)/.exec(command)?.[1] ?? '');
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
    await sleep(50);
  }
}

/** The expected output; an ellipsis stands for any text, and an age for any other. */
function patternOf(expected: string): RegExp {
  const escaped = expected.trimEnd().replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('…', '.*').replaceAll(/ \\?\b0s\b/g, ' \\d+s')}$`);
}

async function runStep(step: ConsoleStep): Promise<void> {
  const [, started] = /^(.*) &$/.exec(step.command) ?? [];
  const [, name, value] = /^export (\w+)=(.*)$/.exec(step.command) ?? [];
  const [, job] = /^kill %(\d+)$/.exec(step.command) ?? [];
  if (started !== undefined) await start(started);
  else if (name !== undefined) process.env[name] = value;
  else if (job !== undefined) {
    const child = background[Number(job) - 1];
    child?.kill('SIGTERM');
    while (child !== undefined && child.exitCode === null) await sleep(20);
    expect(child?.exitCode).toBe(0);
  } else expect(folder.run(step).trimEnd()).toMatch(patternOf(step.expected));
}

describe(page, () => {
  test('has commands', () => {
    expect(blocks.filter(({ info }) => info === 'console').length).toBeGreaterThan(6);
  });

  for (const block of blocks) {
    if (block.info.includes('file=')) {
      test(`writes the file of line ${block.line}`, () => {
        expect(folder.write(block)).toBe(true);
      });
    }
    if (block.info !== 'console') continue;
    for (const step of stepsOf(block)) test(`runs line ${step.line}: ${step.command}`, () => runStep(step));
  }
});
