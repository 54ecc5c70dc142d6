/** The documentation site, built as it is deployed, below a path, and read in Chromium on a laptop and on a phone. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, posix } from 'node:path';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PANEL_IDS } from '../../examples/playground/src/panels/panel-ids.js';
import { findChromium } from './chromium.js';
import { BUILD_MS, serveDocumentation } from './served-folder.js';

const executablePath = findChromium();
if (executablePath === undefined) {
  console.log('No tests of the documentation site: there is no Chromium here (or set CHROME_PATH)');
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let site: Awaited<ReturnType<typeof serveDocumentation>>;

beforeAll(async () => {
  site = await serveDocumentation();
}, BUILD_MS);

afterAll(() => site?.close());

describe('the files of the documentation site', () => {
  test('are built without a warning', () => {
    expect(site.messages).toEqual([]);
  });

  test('have no link to a page, a file or a heading that does not exist', async () => {
    const pages = (await readdir(site.folder, { recursive: true })).filter(
      (name) => name.endsWith('.html') && !/^(?:playground|reference)\b/.test(name),
    );
    const ids = new Map<string, Set<string>>();
    const links: { page: string; file: string; hash: string }[] = [];
    for (const page of pages) {
      const html = await readFile(join(site.folder, page), 'utf8');
      ids.set(page, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '')));
      for (const [, link = ''] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
        if (/^[a-z]+:/.test(link)) continue;
        const [path = '', hash = ''] = link.split('#');
        const file = path === '' ? page : posix.join(posix.dirname(page), path).replace(/(^|\/)\.?$/, '$1index.html');
        links.push({ page, file: file.replace(/\/$/, '/index.html'), hash: decodeURIComponent(hash) });
      }
    }
    expect(pages.length).toBeGreaterThan(80);
    expect(links.length).toBeGreaterThan(2_000);
    const dead = links.filter(
      ({ file, hash }) => !existsSync(join(site.folder, file)) || (hash !== '' && ids.get(file)?.has(hash) === false),
    );
    expect(dead).toEqual([]);
  });
});

describe.skipIf(executablePath === undefined)(
  'the documentation site in Chromium (skipped if it is not installed)',
  { timeout: 60_000 },
  () => {
    let browser: Browser;

    beforeAll(async () => {
      browser = await chromium.launch({
        ...(executablePath === undefined ? {} : { executablePath }),
        args: ['--no-sandbox', '--disable-dev-shm-usage'],
      });
    }, 60_000);

    afterAll(() => browser?.close());

    /** Opens a page and passes it to `use`. Fails if the page reports an error or a file is missing. */
    const visit = async (path: string, use: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) => {
      // Without transitions, whose colours in between have too little contrast.
      const defaults = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' } as const;
      const context = await browser.newContext({ ...defaults, ...options });
      const page = await context.newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => void errors.push(error.stack ?? error.message));
      page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
      await page.goto(site.url + path);
      await use(page);
      await context.close();
      expect(errors).toEqual([]);
      expect(site.missing).toEqual([]);
    };

    /** Opens the page of this title. A click may have no effect while the scripts of a page start. */
    const follow = async (page: Page, part: string, title: string) => {
      const heading = page.getByRole('heading', { level: 1, name: title });
      const link = page.locator(part).getByRole('link', { name: title, exact: true }).first();
      const isOpen = async () => {
        if (!(await heading.isVisible())) await link.click();
        return heading.isVisible();
      };
      await expect.poll(isOpen, { timeout: 30_000, interval: 500 }).toBe(true);
    };

    const isDark = (page: Page): Promise<boolean> =>
      page.evaluate(() => document.documentElement.classList.contains('dark'));

    test('opens pages of other folders by their links, and after a reload', async () => {
      await visit('', async (page) => {
        await follow(page, '.VPSidebar', 'Applying');
        await follow(page, '.VPSidebar', 'Comparison');
        expect(page.url()).toBe(`${site.url}comparison.html`);
        await page.reload();
        await follow(page, '.vp-doc', 'Fidelity');
      });
    });

    test('finds a page by its text', async () => {
      await visit('', async (page) => {
        await page.getByRole('button', { name: 'Search' }).click();
        await page.getByRole('searchbox').fill('before-first-apply');
        await page.locator('.VPLocalSearchBox .result').first().click();
        await page.getByRole('heading', { level: 1, name: 'Applying' }).waitFor();
      });
    });

    test('switches to dark colours and remembers it', async () => {
      await visit('guide/', async (page) => {
        expect(await isDark(page)).toBe(false);
        // The switch has no effect before the page's script runs.
        await expect
          .poll(async () => {
            if (!(await isDark(page))) await page.locator('.VPNavBar').getByRole('switch').click();
            return isDark(page);
          })
          .toBe(true);
        await page.reload();
        await expect.poll(() => isDark(page)).toBe(true);
      });
    });

    test('is not wider than a phone, where the menu leads to every page', async () => {
      const phone = { viewport: { width: 390, height: 844 } };
      for (const path of ['', 'guide/05-applying.html', 'comparison.html', 'conformance.html', 'fidelity.html']) {
        await visit(
          path,
          async (page) => {
            await page.locator('h1').waitFor();
            expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
            if (path !== '') return;
            await page.getByRole('button', { name: 'Menu' }).click();
            await follow(page, '.VPSidebar', 'Access');
          },
          phone,
        );
      }
    });

    test('opens the text of a block in the playground, which is not loaded before', async () => {
      await visit('guide/10-access.html', async (page) => {
        const before = site.requested.length;
        await page.reload();
        await page.getByRole('button', { name: 'Try it' }).waitFor();
        expect(site.requested.slice(before).filter((path) => /^playground\/.*\.(html|js)$/.test(path))).toEqual([]);
        await page.getByRole('button', { name: 'Try it' }).click();
        const playground = page.frameLocator('iframe[title=Playground]');
        await expect
          .poll(() => playground.locator('.cm-content').allTextContents(), { timeout: 30_000 })
          .toEqual([expect.stringContaining('kind: RoleBinding')]);
        await playground.getByRole('button', { name: 'Apply', exact: true }).click();
        await expect.poll(() => playground.locator('.notices').textContent()).toContain('2 objects applied');

        await page.getByRole('button', { name: 'Enlarge' }).click();
        expect(await playground.locator('#panel-access').isVisible()).toBe(true);
        const tabs = await playground.getByRole('tab').evaluateAll((all) => all.map(({ id }) => id));
        expect(tabs).toEqual(PANEL_IDS.map((id) => `tab-${id}`));
        expect(await playground.locator('.tree').textContent()).toContain('readers');

        await page.getByRole('button', { name: 'Close' }).click();
        expect(await page.locator('iframe').count()).toBe(0);
        expect(await page.getByRole('button', { name: 'Try it' }).isVisible()).toBe(true);
      });
    });

    for (const colorScheme of ['light', 'dark'] as const) {
      test(`has no serious accessibility problem in ${colorScheme} colours`, async () => {
        for (const path of ['', 'guide/05-applying.html', 'comparison.html', 'playground/']) {
          await visit(
            path,
            async (page) => {
              await page.locator(path === 'playground/' ? '.cm-content' : 'h1').waitFor();
              if (path === 'playground/') {
                await page.getByRole('button', { name: 'Apply', exact: true }).click();
                await page.locator('.notices', { hasText: 'applied' }).waitFor();
              }
              // The switch of the colours has no name before the page's script runs.
              await expect.poll(() => seriousProblems(page), { message: path, timeout: 20_000 }).toEqual([]);
            },
            { colorScheme },
          );
        }
      });
    }
  },
);

/** What axe reports as serious or critical. */
async function seriousProblems(page: Page): Promise<readonly string[]> {
  await page.addScriptTag({ path: AXE });
  const { violations, passes } = await page.evaluate(() =>
    (globalThis as typeof globalThis & { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  expect(passes.length).toBeGreaterThan(10);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}
