/** The service worker example, started and used like a user does: with a mouse and two tabs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireBuild, root } from '../package/manifest.js';
import { findChromium } from './chromium.js';

const executablePath = findChromium();
if (executablePath === undefined) {
  console.log('The example of a service worker was bundled, but not used: there is no Chromium here (set CHROME_PATH)');
}

const NOTES = '/cluster/apis/example.com/v1/namespaces/default/notes';

let site: ChildProcess;
let origin: string;

beforeAll(async () => {
  requireBuild();
  site = spawn(process.execPath, [join(root, 'examples/14-service-worker/start.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  origin = await originOf(site);
}, 60_000);

afterAll(async () => {
  if (site.exitCode !== null) return;
  const ended = once(site, 'exit');
  site.kill();
  await ended;
});

test('serves only a page and two scripts from the site', async () => {
  for (const path of ['/', '/page.js', '/worker.js']) {
    const response = await fetch(origin + path);
    expect([path, response.status]).toEqual([path, 200]);
    expect((await response.text()).length).toBeGreaterThan(100);
  }
  expect((await fetch(origin + NOTES)).status).toBe(404);
});

describe.skipIf(executablePath === undefined)(
  'the service worker example in Chromium (skipped if it is not installed)',
  () => {
    let browser: Browser;
    let context: BrowserContext;
    let first: Page;
    const errors: string[] = [];

    beforeAll(async () => {
      browser = await chromium.launch({
        ...(executablePath === undefined ? {} : { executablePath }),
        // Containers and root provide no sandbox, and the pages are part of this repository.
        args: ['--no-sandbox', '--disable-dev-shm-usage'],
      });
      context = await browser.newContext();
      first = await open();
    }, 60_000);

    afterAll(() => browser?.close());

    test('shows the object that the worker created at its start', async () => {
      await untilNotes(first, ['Open this page in a second tab.']);
    });

    test('shows a new note in both tabs', async () => {
      await add(first, 'From the first tab');
      await untilNotes(first, ['From the first tab', 'Open this page in a second tab.']);
      const second = await open();
      await untilNotes(second, ['From the first tab', 'Open this page in a second tab.']);
      await second.getByRole('listitem').filter({ hasText: 'second tab' }).getByRole('button').click();
      await untilNotes(first, ['From the first tab']);
      await second.close();
    });

    test('sends a change of one object through the worker and back', async () => {
      await first.getByRole('checkbox').check();
      await first.waitForFunction(
        async (path) => (await (await fetch(path)).json()).items.every(({ spec }: Note) => spec.done),
        NOTES,
      );
      expect(await first.getByRole('checkbox').isChecked()).toBe(true);
    });

    test("shows a rejection with the server's message", async () => {
      await add(first, 'x'.repeat(201));
      await first.getByText('spec.text: Too long').waitFor();
      await untilNotes(first, ['From the first tab']);
    });

    test('gets every response of the cluster from the worker, and logs no unexpected errors', () => {
      expect(errors).toEqual([]);
    });

    async function open(): Promise<Page> {
      const page = await context.newPage();
      page.on('pageerror', (error) => errors.push(error.stack ?? error.message));
      page.on('console', (message) => {
        // Browsers log every rejected request.
        if (message.type() === 'error' && !message.text().includes('422')) errors.push(message.text());
      });
      page.on('response', (response) => {
        if (response.url().includes('/cluster/') && !response.fromServiceWorker()) errors.push(response.url());
      });
      await page.goto(origin);
      return page;
    }

    async function add(page: Page, text: string): Promise<void> {
      await page.getByRole('textbox').fill(text);
      await page.getByRole('button', { name: 'add' }).click();
    }

    /** Sorted, because the names of notes are random. */
    async function untilNotes(page: Page, texts: readonly string[]): Promise<void> {
      const shown = async () => (await page.getByRole('listitem').locator('label').allInnerTexts()).map(trimmed).sort();
      await expect.poll(shown, { timeout: 10_000 }).toEqual([...texts].sort());
    }
  },
);

interface Note {
  readonly spec: { readonly text: string; readonly done: boolean };
}

function trimmed(text: string): string {
  return text.trim();
}

/** The URL that the program prints. */
async function originOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('nothing can be read');
  for await (const line of createInterface({ input: stdout })) {
    const [, address] = /^(http:\/\/127\.0\.0\.1:\d+)\//.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('the example has ended without an address');
}
