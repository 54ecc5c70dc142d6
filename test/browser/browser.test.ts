/**
 * The library in a page and in a service worker, under a policy that forbids eval. The scenarios are in pages/; they
 * run in the browser and report here. Errors on the console and uncaught rejections fail the visit.
 */
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from './chromium.js';
import type { Outcome, Scenarios } from './pages/check.js';
import { inPage } from './pages/in-page.js';
import { journalFirst, journalLater } from './pages/with-journal.js';
import { prefixFirst, prefixLater } from './pages/with-prefix.js';
import { inShop } from './pages/with-shop.js';
import { afterReload, firstVisit } from './pages/with-worker.js';
import { type Bundles, bundleScripts, type Site, serveSite } from './site.js';

const executablePath = findChromium();
if (executablePath === undefined) {
  console.log('No browser tests: there is no Chromium here (install the package chromium, or set CHROME_PATH)');
}

/** The 64-bit numbers of protobufjs try WebAssembly, and continue without it. */
const WASM_TRIED = 'script-src forbids wasm-eval ';

let bundles: Bundles;

beforeAll(async () => {
  bundles = await bundleScripts();
}, 60_000);

test('bundles for the browsers of 2023 without a warning', () => {
  expect(bundles.warnings).toEqual([]);
  for (const script of bundles.scripts.values()) expect(script.length).toBeGreaterThan(0);
});

describe.skipIf(executablePath === undefined)('orchplane in Chromium (skipped if it is not installed)', () => {
  let browser: Browser;
  let site: Site;

  beforeAll(async () => {
    site = await serveSite(bundles.scripts);
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      // Containers and root provide no sandbox, and the pages are part of this repository.
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  test('forbids eval by the content security policy of the site', async () => {
    const visit = await open();
    await visit.to('/eval.html');
    expect(visit.errors).toEqual(['eval']);
    await visit.close();
  });

  describe('a cluster in a page', () => {
    visits([{ go: (visit) => visit.to('/page.html'), scenarios: inPage }], [WASM_TRIED]);
  });

  describe('a cluster in a page of an old browser', () => {
    visits([{ go: (visit) => visit.to('/old.html'), scenarios: inPage }], [WASM_TRIED]);
  });

  describe('a cluster with a journal', () => {
    visits([
      { go: (visit) => visit.to('/journal.html'), scenarios: journalFirst },
      { go: (visit) => visit.again(), scenarios: journalLater },
    ]);
  });

  describe('a cluster that runs pods', () => {
    visits([{ go: (visit) => visit.to('/shop.html'), scenarios: inShop }]);
  });

  describe('a cluster in a service worker', () => {
    visits([
      { go: (visit) => visit.to('/worker.html'), scenarios: firstVisit },
      { go: (visit) => visit.again(), scenarios: afterReload },
    ]);

    test('sends none of its requests to the server', () => {
      const isOurs = (path: string): boolean => /^\/(api|apis|openapi|version|healthz|metrics)(\/|\?|$)/.test(path);
      expect(site.requestedPaths.filter(isOurs)).toEqual([]);
      expect(site.requestedPaths).toContain('/apiary.txt');
    });
  });

  describe('a cluster in a service worker, below a path', () => {
    visits([
      { go: (visit) => visit.to('/app/'), scenarios: prefixFirst },
      { go: (visit) => visit.again(), scenarios: prefixLater },
    ]);
  });

  interface Step {
    readonly go: (visit: Visit) => Promise<readonly Outcome[]>;
    readonly scenarios: Scenarios;
  }

  /** One visitor runs the steps; each scenario of each page is a test. Expected errors are compared by their start. */
  function visits(steps: readonly Step[], expectedErrors: readonly string[] = []): void {
    const outcomes: Map<string, string>[] = [];
    let errors: readonly string[] = ['there was no visit'];

    beforeAll(async () => {
      const visit = await open();
      for (const { go } of steps) outcomes.push(new Map((await go(visit)).map(({ name, result }) => [name, result])));
      errors = visit.errors;
      await visit.close();
    }, 60_000);

    for (const [index, { scenarios }] of steps.entries()) {
      for (const name of Object.keys(scenarios)) {
        test(index === 0 ? name : `loaded again: ${name}`, () => expect(outcomes[index]?.get(name)).toBe('passed'));
      }
    }

    test('logs no errors, leaves no rejection uncaught, and tries eval only where expected', () =>
      expect(errors).toEqual(expectedErrors.map((start) => expect.stringContaining(start))));
  }

  interface Visit {
    /** Loads a page and waits for its report. */
    to(path: string): Promise<readonly Outcome[]>;
    /** Reloads the page. */
    again(): Promise<readonly Outcome[]>;
    readonly errors: readonly string[];
    close(): Promise<void>;
  }

  /** A new visitor: no worker, no stored data. */
  async function open(): Promise<Visit> {
    const context = await browser.newContext();
    const page = await context.newPage();
    const errors: string[] = [];
    collectErrors(page, errors);
    let reported: (outcomes: readonly Outcome[]) => void = () => undefined;
    await page.exposeFunction('report', (outcomes: readonly Outcome[], violations: readonly string[]) => {
      errors.push(...violations);
      reported(outcomes);
    });
    const outcomesAfter = async (load: () => Promise<unknown>): Promise<readonly Outcome[]> => {
      const outcomes = new Promise<readonly Outcome[]>((resolve, reject) => {
        reported = resolve;
        page.once('crash', () => reject(new Error('the page has crashed')));
      });
      await load();
      return outcomes;
    };
    return {
      to: (path) => outcomesAfter(() => page.goto(site.origin + path)),
      again: () => outcomesAfter(() => page.reload()),
      errors,
      close: () => context.close(),
    };
  }
});

/** Errors of a page that no scenario expects. */
function collectErrors(page: Page, errors: string[]): void {
  page.on('pageerror', (error) => errors.push(error.stack ?? error.message));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // Browsers log every response of 400 and above; the scenarios request a missing object once on purpose.
    const isMissing = message.text().includes('404') && message.location().url.endsWith('/configmaps/nope');
    if (!isMissing) errors.push(`${message.text()} (${message.location().url})`);
  });
}
