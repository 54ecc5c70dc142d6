/** A page object for the playground. */
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

export class PlaygroundPage {
  readonly page: Page;
  /** Errors of the page that no test expects. */
  readonly errors: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => void this.errors.push(error.stack ?? error.message));
    page.on('console', (message) => {
      const type = message.type();
      if (type === 'error' || type === 'warning') this.errors.push(`${message.text()} (${message.location().url})`);
    });
  }

  static async open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<PlaygroundPage> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const opened = new PlaygroundPage(await context.newPage());
    await opened.page.goto(url);
    await opened.page.locator('.cm-content').waitFor();
    return opened;
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  /** Replaces the text in the editor. */
  async write(text: string): Promise<void> {
    await this.page.locator('.cm-content').click();
    await this.page.keyboard.press('ControlOrMeta+A');
    await this.page.keyboard.insertText(text);
  }

  text(): Promise<string> {
    const lines = this.page.locator('.cm-line');
    return lines.allTextContents().then((all) => all.join('\n'));
  }

  /** Accepts the offered completion. The editor ignores keys right after the list opens. */
  async accept(): Promise<void> {
    await this.page.locator('.cm-tooltip-autocomplete [aria-selected]').waitFor();
    await this.page.waitForTimeout(150);
    await this.page.keyboard.press('Enter');
  }

  async apply(): Promise<void> {
    await this.page.getByRole('button', { name: 'Apply', exact: true }).click();
  }

  async choose(action: 'Create' | 'Replace' | 'Delete'): Promise<void> {
    await this.page.getByRole('button', { name: 'More actions' }).click();
    await this.page.getByRole('menuitem', { name: action }).click();
  }

  async be(what: 'User' | 'Manager', name: string): Promise<void> {
    await this.page.locator('label.chooser', { hasText: what }).locator('select').selectOption(name);
  }

  async speed(label: '1×' | '10×' | '60×'): Promise<void> {
    await this.page.getByRole('button', { name: label }).click();
  }

  get checkSummary(): Locator {
    return this.page.locator('.findings');
  }

  get tree(): Locator {
    return this.page.getByRole('region', { name: 'Objects' });
  }

  get object(): Locator {
    return this.page.getByRole('region', { name: 'Object', exact: true });
  }

  get notices(): Locator {
    return this.page.locator('.notices');
  }

  /** The line of the object view with a field. */
  line(path: string): Locator {
    return this.object.locator(`[data-path="${path}"]`).first();
  }

  async see(place: Locator, text: string | RegExp): Promise<void> {
    const matcher = typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text);
    await expect
      .poll(() => place.allTextContents().then((all) => all.join('\n')), { timeout: 20_000 })
      .toEqual(matcher);
  }

  /** Whether the page is wider than its window. */
  isTooWide(): Promise<boolean> {
    return this.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  }
}
