/**
 * The panels of the playground that do something, as a visitor uses them: in Chromium.
 */
import { type Browser, chromium, type Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { scenarios } from '../../examples/playground/src/scenarios/index.js';
import { findChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { type PlaygroundSite, servePlayground } from './playground-site.js';

const executablePath = findChromium();
if (executablePath === undefined) {
  console.log('No tests of the panels of the playground: there is no Chromium here (or set CHROME_PATH)');
}

const CONFIG = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: sizes\ndata:\n  size: SIZE\n';

describe.skipIf(executablePath === undefined)('in Chromium (skipped where there is none)', () => {
  let browser: Browser;
  let site: PlaygroundSite;
  let visit: PlaygroundPage;

  beforeAll(async () => {
    site = await servePlayground();
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  }, 180_000);

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  beforeEach(async () => {
    visit = await PlaygroundPage.open(browser, site.url);
    return async () => {
      const { errors } = visit;
      await visit.close();
      expect(errors).toEqual([]);
    };
  });

  const panel = async (id: string): Promise<Locator> => {
    await visit.page.locator(`#tab-${id}`).click();
    return visit.page.locator(`#panel-${id}`);
  };

  const type = async (line: string): Promise<void> => {
    await visit.page.locator('#command').fill(line);
    await visit.page.keyboard.press('Enter');
  };

  /** For people who want to look: PLAYGROUND_SHOTS=folder. */
  const shot = async (name: string): Promise<void> => {
    const folder = process.env['PLAYGROUND_SHOTS'];
    if (folder !== undefined) await visit.page.screenshot({ path: `${folder}/${name}.png` });
  };

  test('the command line runs lines, completes them, remembers them and stops a watch', {
    timeout: 60_000,
  }, async () => {
    const terminal = await panel('command-line');
    await type('create configmap sizes --from-literal=size=m');
    await visit.see(terminal, 'configmap/sizes created');
    await visit.see(visit.tree, 'sizes');
    await visit.page.locator('#command').fill('get configm');
    await visit.page.keyboard.press('Tab');
    await expect.poll(() => visit.page.locator('#command').inputValue()).toBe('get configmaps ');
    await type('get configmaps -w');
    await visit.see(terminal, /NAME\s+DATA\s+AGE[\s\S]*sizes\s+1\s/);
    await visit.page.locator('#command').press('Control+c');
    await visit.see(terminal, '^C');
    await type('get pods nope');
    await visit.see(terminal, 'Error from server (NotFound): pods "nope" not found');
    await visit.page.locator('#command').press('ArrowUp');
    await visit.page.locator('#command').press('ArrowUp');
    expect(await visit.page.locator('#command').inputValue()).toBe('get configmaps -w');
    await type('get all -A');
    await shot('command-line');
    await type('edit configmap sizes');
    await expect.poll(() => visit.text()).toContain('size: m');
    await visit.see(await panel('requests'), 'command line');
  });

  test.each(scenarios)('the scenario "$title" can be clicked through', { timeout: 120_000 }, async ({ id, steps }) => {
    await visit.speed('10×');
    const story = await panel('scenarios');
    if (id === 'two-managers') await shot('scenarios');
    await visit.page.locator(`#scenario-${id}`).click();
    for (const [index] of steps.entries()) {
      await visit.page.locator('#scenario-next').click();
      await expect
        .poll(() => story.locator('.step.done, .step.differs').count(), { timeout: 40_000 })
        .toBeGreaterThan(index);
      expect(await story.locator('.differs-reason').allTextContents()).toEqual([]);
      if (index === 1) await shot(`scenario-${id}`);
    }
    await visit.see(story, 'That was it.');
  });

  test('a link brings everything back, and a damaged one breaks nothing', { timeout: 60_000 }, async () => {
    await visit.write(CONFIG.replace('SIZE', 'shared'));
    await visit.apply();
    await visit.see(visit.tree, 'sizes');
    await panel('cel');
    await visit.page.locator('#share').click();
    await visit.see(visit.notices, /Link copied|address bar/);
    const link = visit.page.url();
    expect(link).toMatch(/#s1\.[A-Za-z0-9_-]+$/);

    const other = await PlaygroundPage.open(browser, link);
    await other.see(other.tree, 'sizes');
    expect(await other.text()).toContain('size: shared');
    expect(await other.page.locator('#panel-cel').count()).toBe(1);
    expect(other.errors).toEqual([]);
    await other.close();

    const damaged = await PlaygroundPage.open(browser, link.slice(0, -40));
    await damaged.see(damaged.notices, 'This link is damaged');
    await damaged.see(damaged.tree, 'Nothing here yet.');
    expect(await damaged.text()).toContain('kind: Deployment');
    expect(damaged.errors).toEqual([]);
    await damaged.close();
  });

  test('access is asked about, told by rule, and tried', { timeout: 60_000 }, async () => {
    await panel('command-line');
    await type('create rolebinding readers --clusterrole=view --user=alice');
    await visit.see(visit.page.locator('.terminal'), 'created');
    const access = await panel('access');
    await visit.see(visit.page.locator('#access-verdict'), /Yes.*view.*readers/);
    await visit.see(visit.page.locator('#access-verdict'), 'verbs: [get, list, watch]');
    await access.getByRole('button', { name: 'delete pods: no' }).click();
    await visit.see(visit.page.locator('#access-verdict'), 'No role that is bound to this user says so.');
    await shot('access');
    await access.getByRole('button', { name: 'Go on as alice' }).click();
    await visit.write(CONFIG);
    await visit.apply();
    await visit.see(visit.notices, 'User "alice" cannot');
  });

  test('expressions are tried as they are typed', { timeout: 60_000 }, async () => {
    await panel('cel');
    const result = visit.page.locator('#cel-result');
    await visit.see(result, /false.*bool · cost \d/);
    await shot('cel');
    await visit.page.locator('#cel-expression').fill('self.replicas >');
    await visit.see(result, /Syntax error[\s\S]*line 1, column 16/);
    await visit.page.locator('#cel-expression').fill('self.list.map(x, x * 2)');
    await visit.page.locator('#cel-variables').fill('self: { list: [1, 2] }');
    await visit.see(result, '[2, 4]');
    await visit.page.locator('#cel-variables').fill('self: [');
    await visit.see(result, /line 1/);
  });

  test('the slider shows the past, goes back to it, and forks from it', { timeout: 60_000 }, async () => {
    for (const size of ['small', 'medium', 'large']) {
      await visit.write(CONFIG.replace('SIZE', size));
      await visit.apply();
      await visit.see(visit.line('.data.size'), size);
    }
    const time = await panel('time');
    const changes = time.locator('.time-changes .row');
    await expect.poll(() => changes.count()).toBe(3);
    await changes.nth(1).locator('button').click();
    await visit.see(visit.line('.data.size'), 'medium');
    await visit.see(time, 'you see the past');
    await visit.see(time.locator('.diff'), /- {3}size: small[\s\S]*\+ {3}size: medium/);
    await time.getByRole('button', { name: 'Against the present' }).click();
    await visit.see(time.locator('.diff'), /- {3}size: medium[\s\S]*\+ {3}size: large/);
    await shot('time');

    await visit.page.locator('#time-fork').click();
    await visit.see(visit.notices, 'This is another cluster now');
    await visit.tree.getByText('sizes').click();
    await visit.see(visit.line('.data.size'), 'medium');
    await visit.page.locator('#time-leave').click();
    await visit.tree.getByText('sizes').click();
    await visit.see(visit.line('.data.size'), 'large');

    await expect.poll(() => changes.count()).toBe(3);
    await changes.nth(0).locator('button').click();
    await visit.page.locator('#time-restore').click();
    await visit.see(visit.line('.data.size'), 'small');
  });
});
