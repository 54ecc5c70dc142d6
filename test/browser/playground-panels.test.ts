/** The panels of the playground, used in Chromium. */
import { type Browser, chromium, type Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { scenarios } from '../../examples/playground/src/scenarios/index.js';
import { findChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { BUILD_MS, type ServedFolder, serveDocumentation } from './served-folder.js';

const executablePath = findChromium();
if (executablePath === undefined) {
  console.log('No tests of the panels of the playground: there is no Chromium here (or set CHROME_PATH)');
}

const CONFIG = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: sizes\ndata:\n  size: SIZE\n';

describe.skipIf(executablePath === undefined)(
  'the playground panels in Chromium (skipped if it is not installed)',
  () => {
    let browser: Browser;
    let site: ServedFolder;
    let visit: PlaygroundPage;

    beforeAll(async () => {
      site = await serveDocumentation('playground');
      browser = await chromium.launch({
        ...(executablePath === undefined ? {} : { executablePath }),
        args: ['--no-sandbox', '--disable-dev-shm-usage'],
      });
    }, BUILD_MS + 60_000);

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
      // A command must end before the next one is accepted.
      await expect.poll(() => visit.page.locator('.terminal-prompt button').count(), { timeout: 20_000 }).toBe(0);
      await visit.page.locator('#command').fill(line);
      await visit.page.keyboard.press('Enter');
    };

    /** Saves screenshots for review: PLAYGROUND_SHOTS=folder. */
    const shot = async (name: string): Promise<void> => {
      const folder = process.env['PLAYGROUND_SHOTS'];
      if (folder !== undefined) await visit.page.screenshot({ path: `${folder}/${name}.png` });
    };

    test('runs, completes and remembers commands, and stops a watch', {
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
      await visit.see(terminal.locator('.terminal-output'), /get all -A\s*\S/);
      await shot('command-line');
      await type('edit configmap sizes');
      await expect.poll(() => visit.text(), { timeout: 20_000 }).toContain('size: m');
      await visit.see(await panel('requests'), 'command line');
    });

    test('follows the log of a pod and opens a terminal in it', { timeout: 60_000 }, async () => {
      await visit.speed('10×');
      const terminal = await panel('command-line');
      await type('run tick --image=busybox -- sh -c "while true; do echo tick; sleep 5; done"');
      await visit.see(terminal, 'pod/tick created');
      await visit.tree.getByText('tick', { exact: true }).click();
      await visit.object.getByRole('button', { name: 'Logs' }).click();
      const pod = visit.page.locator('#panel-pod');
      const log = pod.getByRole('log', { name: 'Log of tick' });
      await visit.see(log, /tick\n(tick\n)+tick/);
      await pod.getByRole('switch', { name: 'Timestamps' }).click();
      await visit.see(log, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z tick/);

      await pod.getByRole('button', { name: 'Open a shell in tick' }).click();
      const input = pod.getByRole('textbox', { name: 'Shell in tick' });
      await expect.poll(() => input.evaluate((each) => each === document.activeElement)).toBe(true);
      await visit.page.keyboard.type('echo "hello from $(hostname)"');
      await visit.page.keyboard.press('Enter');
      await visit.see(pod.locator('.terminal-output').last(), 'tick # echo "hello from $(hostname)"hello from tick');
      await shot('pod');
      await visit.page.keyboard.press('ArrowUp');
      expect(await input.inputValue()).toBe('echo "hello from $(hostname)"');
      await input.fill('');
      await visit.page.keyboard.press('Control+d');
      const isOpenButtonFocused = () => visit.page.evaluate(() => document.activeElement?.id);
      await expect.poll(isOpenButtonFocused).toBe('pod-shell');

      await pod.getByRole('switch', { name: 'Previous' }).click();
      await visit.see(log, 'previous terminated container "tick" in pod "tick" not found');

      await panel('command-line');
      await type('exec -it tick -- sh');
      await visit.see(terminal.locator('label'), 'tick #');
      await visit.page.keyboard.type('exit 3');
      await visit.page.keyboard.press('Enter');
      await visit.see(terminal, 'command terminated with exit code 3');
      await type('logs tick -f');
      await visit.see(terminal, /tick\s*tick\s*tick/);
      await visit.page.locator('#command').press('Control+c');
      await visit.see(terminal, '^C');
      expect(await visit.isTooWide()).toBe(false);
    });

    test.each(scenarios)('steps through the scenario "$title"', { timeout: 120_000 }, async ({ id, steps }) => {
      await visit.speed('10×');
      const scenario = await panel('scenarios');
      if (id === 'two-managers') await shot('scenarios');
      await visit.page.locator(`#scenario-${id}`).click();
      for (const [index] of steps.entries()) {
        await visit.page.locator('#scenario-next').click();
        await expect
          .poll(() => scenario.locator('.step.done, .step.differs').count(), { timeout: 40_000 })
          .toBeGreaterThan(index);
        expect(await scenario.locator('.differs-reason').allTextContents()).toEqual([]);
        if (index === 1) await shot(`scenario-${id}`);
      }
      await visit.see(scenario, 'The scenario is complete.');
    });

    test("shows a scenario, and returns to the visitor's cluster and text", {
      timeout: 60_000,
    }, async () => {
      const mine = CONFIG.replace('SIZE', 'mine');
      await visit.write(mine);
      await visit.apply();
      await visit.see(visit.tree, 'sizes');
      await visit.write(`${mine}# a note\n`);
      const scenario = await panel('scenarios');
      await visit.see(scenario.locator('.cards > p'), 'Your cluster and the text of the editor are kept');
      expect(await scenario.locator('.cards > :first-child').evaluate((each) => each.tagName)).toBe('P');
      await visit.page.locator('#scenario-two-managers').click();
      await visit.see(visit.page.locator('.temporary-cluster-mark'), 'Scenario: ');
      await visit.see(visit.tree, 'No objects yet.');
      await visit.page.locator('#scenario-next').click();
      await visit.see(visit.line('.spec.replicas'), 'owned by ci');
      await visit.page.locator('#scenario-back').click();
      await visit.see(visit.tree, 'sizes');
      expect(await visit.text()).toContain('# a note');
      await visit.see(visit.line('.data.size'), 'mine');
      expect(await visit.page.locator('.temporary-cluster-mark').count()).toBe(0);
      await visit.see(scenario, 'Each scenario runs in its own cluster.');
    });

    test('keeps the columns of scenario tables on a phone', { timeout: 60_000 }, async () => {
      await visit.page.setViewportSize({ width: 390, height: 844 });
      await visit.speed('60×');
      await visit.page.getByRole('navigation').getByRole('button', { name: 'Scenarios' }).click();
      await visit.page.locator('#scenario-rollout').click();
      await visit.page.locator('#scenario-next').click();
      const table = visit.page.locator('.step pre', { hasText: '$ get pods' }).locator('.output');
      await visit.see(table, /NAME +READY +STATUS/);
      const { lines, height, isScrolled } = await table.evaluate((each) => ({
        lines: (each.textContent ?? '').split('\n').length,
        height: each.clientHeight / Number.parseFloat(getComputedStyle(each).lineHeight),
        isScrolled: each.scrollWidth > each.clientWidth,
      }));
      expect(isScrolled).toBe(true);
      expect(Math.round(height)).toBe(lines);
      expect(await visit.isTooWide()).toBe(false);
    });

    test('shows requests with their responses', { timeout: 60_000 }, async () => {
      await visit.write(CONFIG.replace('SIZE', 'sent'));
      await visit.apply();
      const requests = await panel('requests');
      await requests.getByRole('button', { name: /PATCH/ }).click();
      await visit.see(requests.getByRole('region', { name: 'Request' }), 'size: sent');
      await visit.see(requests.getByRole('region', { name: 'Answer' }), /Answered 201 in[\s\S]*uid:/);
      // The documents scroll inside their panels; the page does not.
      expect(await visit.page.evaluate(() => document.documentElement.scrollHeight <= innerHeight)).toBe(true);
    });

    test('asks before leaving the page only if something would be lost', { timeout: 60_000 }, async () => {
      const untouched = await PlaygroundPage.open(browser, site.url);
      await untouched.page.locator('.cm-content').click();
      const closed = untouched.page.waitForEvent('close');
      await untouched.page.close({ runBeforeUnload: true });
      await closed;
      await untouched.close();

      await visit.write(CONFIG.replace('SIZE', 'precious'));
      await visit.apply();
      await visit.see(visit.line('.data.size'), 'precious');
      const dialogOpened = visit.page.waitForEvent('dialog');
      await visit.page.close({ runBeforeUnload: true });
      const dialog = await dialogOpened;
      expect(dialog.type()).toBe('beforeunload');
      await dialog.dismiss();
      await visit.see(visit.line('.data.size'), 'precious');
    });

    test('restores everything from a link, and ignores a damaged one', { timeout: 60_000 }, async () => {
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
      await damaged.see(damaged.tree, 'No objects yet.');
      expect(await damaged.text()).toContain('kind: Deployment');
      expect(damaged.errors).toEqual([]);
      await damaged.close();
    });

    test('explains access by rule and tries it', { timeout: 60_000 }, async () => {
      await panel('command-line');
      await type('create rolebinding readers --clusterrole=view --user=alice');
      await visit.see(visit.page.locator('.terminal'), 'created');
      const access = await panel('access');
      await visit.see(visit.page.locator('#access-decision'), /Yes.*view.*readers/);
      await visit.see(visit.page.locator('#access-decision'), 'verbs: [get, list, watch]');
      await access.getByRole('button', { name: 'delete pods: no' }).click();
      await visit.see(visit.page.locator('#access-decision'), 'No role of this user allows it.');
      await shot('access');
      await access.getByRole('button', { name: 'Switch to alice' }).click();
      await visit.write(CONFIG);
      await visit.apply();
      await visit.see(visit.notices, 'User "alice" cannot');
    });

    test('evaluates expressions while they are typed', { timeout: 60_000 }, async () => {
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

    test('shows past states with the slider, restores them and forks from them', { timeout: 60_000 }, async () => {
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
      // Writing is disabled in the past, and the tree has a button to return.
      const apply = visit.page.getByRole('button', { name: 'Apply', exact: true });
      expect(await apply.isDisabled()).toBe(true);
      expect(await visit.object.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
      await visit.see(visit.checkSummary, 'Validation and writes are disabled until you go back to the present');
      await visit.tree.getByRole('button', { name: 'Back to the present' }).click();
      await visit.see(visit.line('.data.size'), 'large');
      expect(await apply.isDisabled()).toBe(false);
      for (const id of ['time-restore', 'time-fork'])
        expect(await visit.page.locator(`#${id}`).isDisabled()).toBe(true);
      await visit.see(time.locator('.time-hint'), /Restore undoes.*Fork starts a second cluster/);
      await changes.nth(1).locator('button').click();
      await visit.see(time.locator('.diff'), /- {3}size: small[\s\S]*\+ {3}size: medium/);
      await time.getByRole('button', { name: 'Compare with the present' }).click();
      await visit.see(time.locator('.diff'), /- {3}size: medium[\s\S]*\+ {3}size: large/);
      await shot('time');

      await visit.page.locator('#time-fork').click();
      await visit.see(visit.notices, 'This is a fork of version');
      await visit.see(visit.page.locator('.temporary-cluster-mark'), /Fork of version \d+.*Leave the fork/);
      await visit.tree.getByText('sizes').click();
      await visit.see(visit.line('.data.size'), 'medium');
      await visit.page.locator('.temporary-cluster-mark').getByRole('button', { name: 'Leave the fork' }).click();
      expect(await visit.page.locator('.temporary-cluster-mark').count()).toBe(0);
      await visit.tree.getByText('sizes').click();
      await visit.see(visit.line('.data.size'), 'large');

      await expect.poll(() => changes.count()).toBe(3);
      await changes.nth(0).locator('button').click();
      await visit.page.locator('#time-restore').click();
      await visit.see(visit.line('.data.size'), 'small');
    });
  },
);
