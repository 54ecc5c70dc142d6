/** The playground, built as it is deployed and used in Chromium, on a laptop and on a phone. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findChromium } from './chromium.js';
import { PlaygroundPage } from './playground-page.js';
import { BUILD_MS, type ServedFolder, serveDocumentation } from './served-folder.js';

const executablePath = findChromium();
if (executablePath === undefined) {
  console.log(
    'No tests of the playground: there is no Chromium here (install the package chromium, or set CHROME_PATH)',
  );
}

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: web:1
`;

const REPLICAS = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 5
`;

let site: ServedFolder;

beforeAll(async () => {
  site = await serveDocumentation('playground');
}, BUILD_MS);

afterAll(() => site?.close());

describe('the files of the playground', () => {
  test('contain a page with relative links, a title, a language and a viewport', async () => {
    const html = await readFile(join(site.folder, 'index.html'), 'utf8');
    expect([...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^\.\/assets\/index-.*\.js$/)]),
    );
    expect(html).not.toMatch(/(?:src|href)="\//);
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('<title>orchplane playground</title>');
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1"');
    expect(html).toMatch(/<meta name="description" content="[^"]{40,}"/);
  });

  test('are within their size limits', async () => {
    const kB: Record<string, number> = {};
    for (const name of await readdir(join(site.folder, 'assets'))) {
      const kind = name.replace(/-[\w-]+\.(\w+)$/, '.$1');
      kB[kind] = (kB[kind] ?? 0) + gzipSync(await readFile(join(site.folder, 'assets', name))).length / 1_000;
    }
    expect(kB['cluster.js']).toBeLessThan(704);
    expect(kB['editor.js']).toBeLessThan(150);
    expect(kB['index.js']).toBeLessThan(100);
    expect(kB['index.css']).toBeLessThan(15);
  });
});

// A busy machine takes long to load a whole control plane.
describe.skipIf(executablePath === undefined)(
  'the playground in Chromium (skipped if it is not installed)',
  { timeout: 60_000 },
  () => {
    let browser: Browser;
    let visit: PlaygroundPage;

    beforeAll(async () => {
      browser = await chromium.launch({
        ...(executablePath === undefined ? {} : { executablePath }),
        // Containers and root provide no sandbox, and the pages are part of this repository.
        args: ['--no-sandbox', '--disable-dev-shm-usage'],
      });
    }, 60_000);

    afterAll(() => browser?.close());

    describe('a laptop screen', () => {
      beforeEach(async () => {
        visit = await PlaygroundPage.open(browser, site.url);
        return async () => {
          const { errors } = visit;
          await visit.close();
          expect(errors).toEqual([]);
        };
      });

      test('applies the example and shows the rollout to its end', async () => {
        await visit.see(visit.checkSummary, 'Deployment web would be created');
        await visit.speed('10×');
        await visit.apply();
        await visit.see(visit.notices, '2 objects applied');
        await visit.see(visit.tree, /web\s*3\/3/);
        await visit.see(visit.object, '3 of 3 ready');
        await visit.see(visit.page.locator('.stream'), /MODIFIED\s*Deployment default\/web/);
        expect(site.missing).toEqual([]);
      });

      test('stops the clock until it is started again', async () => {
        await visit.page.getByRole('button', { name: 'Stop time' }).click();
        const clock = visit.page.locator('.clock time');
        const stopped = await clock.textContent();
        await visit.apply();
        await visit.see(visit.tree, 'ContainerCreating');
        await visit.see(visit.tree, /web\s*0\/3/);
        expect(await clock.textContent()).toBe(stopped);
        await visit.speed('60×');
        await visit.see(visit.tree, /web\s*3\/3/);
      });

      test('reports invalid YAML, unknown fields and wrong types with their line', async () => {
        await visit.write('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: [\n');
        await visit.see(visit.checkSummary, 'Invalid YAML');
        await visit.write(DEPLOYMENT.replace('replicas: 3', 'replicsa: "3"').replace('image: web:1', 'image: 1'));
        await visit.see(visit.checkSummary, 'line 6 unknown field spec.replicsa; did you mean replicas?');
        await visit.see(
          visit.checkSummary,
          'line 17 spec.template.spec.containers[0].image is a string, not the number 1',
        );
        await visit.write(DEPLOYMENT.replace('apps/v1', 'apps/v7'));
        await visit.see(
          visit.checkSummary,
          'line 1 This cluster serves no Deployment in apps/v7; Deployment is served in apps/v1',
        );
      });

      test('reports server-side validation errors with their line before anything is sent', async () => {
        await visit.write(DEPLOYMENT.replace('        app: web\n    spec', '        app: other\n    spec'));
        await visit.see(visit.checkSummary, /line 12 spec\.template\.metadata\.labels: .*`selector` does not match/);
        await visit.write(DEPLOYMENT.replace('name: web\n        image', 'name: Web_\n        image'));
        await visit.see(visit.checkSummary, 'line 16 spec.template.spec.containers[0].name: Invalid value: "Web_"');
        await visit.page.locator('.findings button').first().click();
        await visit.see(visit.page.locator('.cm-activeLine'), 'name: Web_');
        await expect.poll(() => visit.page.locator('.cm-lintRange-error').count()).toBeGreaterThan(0);
      });

      test("completes fields and values from the cluster's schemas", async () => {
        const list = visit.page.locator('.cm-tooltip-autocomplete');
        await visit.write(
          'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: a\n    image: a\n    ',
        );
        await visit.page.keyboard.type('imageP');
        await visit.see(list, 'imagePullPolicy');
        await visit.see(visit.page.locator('.cm-completionInfo'), 'When to pull the image');
        await visit.accept();
        await visit.see(list, /Always[\s\S]*IfNotPresent[\s\S]*Never/);
        await visit.page.keyboard.type('If');
        await visit.see(list, /^IfNotPresent/);
        await visit.accept();
        expect(await visit.text()).toContain('    imagePullPolicy: IfNotPresent');

        await visit.write('');
        await visit.page.keyboard.type('apiVersion: net');
        await visit.see(list, 'networking.k8s.io/v1');
        await visit.accept();
        await visit.page.keyboard.type('\nkind: NetworkP');
        await visit.see(list, 'NetworkPolicy');
      });

      test('explains a conflict, and takes the field over', async () => {
        await conflict();
        await visit.page.getByRole('button', { name: 'Take over' }).click();
        await visit.see(visit.notices, 'Deployment web applied');
        await visit.see(visit.line('.spec.replicas'), 'replicas: 5, owned by ci');
      });

      test('resolves a conflict by leaving the field to its owner', async () => {
        await conflict();
        await visit.page.getByRole('button', { name: 'Remove from manifest' }).click();
        await expect.poll(() => visit.page.locator('.conflict').count()).toBe(0);
        expect(await visit.text()).not.toContain('replicas');
        await visit.see(visit.line('.spec.replicas'), 'replicas: 3, owned by me');
      });

      test('resolves a conflict by sharing the current value', async () => {
        await conflict();
        await visit.page.locator('.conflict').getByRole('button', { name: 'Share' }).click();
        await expect.poll(() => visit.page.locator('.conflict').count()).toBe(0);
        expect(await visit.text()).toContain('replicas: 3');
        await visit.see(visit.line('.spec.replicas'), /replicas: 3, owned by (ci and me|me and ci)/);
      });

      async function conflict(): Promise<void> {
        await visit.write(DEPLOYMENT);
        await visit.apply();
        await visit.see(visit.notices, 'applied');
        await visit.be('Manager', 'ci');
        await visit.write(REPLICAS);
        await visit.see(visit.checkSummary, 'would conflict');
        await visit.apply();
        const card = visit.page.locator('.conflict');
        await visit.see(card, /\.spec\.replicas\s*3\s*5\s*me/);
      }

      test('shows the owner of each line, its operation and its time', async () => {
        await visit.write(DEPLOYMENT);
        await visit.apply();
        await visit.see(visit.line('.spec.replicas'), 'owned by me');
        expect(await visit.line('.spec.replicas').getAttribute('title')).toMatch(/^me: Apply, \d+s ago \(\d{4}-/);
        await visit.see(visit.line('.spec.template.spec.containers[0].image'), 'owned by me');
        await visit.see(visit.line('.spec.progressDeadlineSeconds'), /^progressDeadlineSeconds: 600$|600$/);
        await visit.object
          .getByRole('button', { name: /kube-controller-manager/ })
          .first()
          .hover();
        await expect.poll(() => visit.object.locator('.line.pointed').count()).toBeGreaterThan(0);
      });

      test("shows the server's response to create, replace and delete", async () => {
        await visit.write('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  size: m\n');
        await visit.choose('Create');
        await visit.see(visit.notices, 'ConfigMap a created');
        await visit.choose('Create');
        await visit.see(visit.notices, 'configmaps "a" already exists');
        await visit.write('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  size: l\n');
        await visit.choose('Replace');
        await visit.see(visit.line('.data.size'), 'size: l');
        await visit.choose('Delete');
        await visit.see(visit.object, 'ConfigMap a does not exist');
        await visit.page.getByRole('tab', { name: 'Requests' }).click();
        await visit.see(visit.page.locator('.requests'), /POST\s*409\s*\/api\/v1\/namespaces\/default\/configmaps/);
      });

      test('shows added, modified and deleted objects with their differences', async () => {
        await visit.write('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  size: m\n');
        await visit.apply();
        await visit.see(visit.line('.data.size'), 'size: m');
        await visit.write('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  size: l\n');
        await visit.apply();
        await visit.see(visit.line('.data.size'), 'size: l');
        await visit.object.getByRole('button', { name: 'Delete' }).click();
        const rows = visit.page.locator('.stream .row');
        await visit.see(rows, /ADDED[\s\S]*MODIFIED[\s\S]*\.data\.size "m" → "l"[\s\S]*DELETED/);
        await rows.filter({ hasText: 'MODIFIED' }).getByRole('button').click();
        await visit.see(visit.page.locator('.diff .minus'), '-   size: m');
        await visit.see(visit.page.locator('.diff .plus'), '+   size: l');
      });

      test('restricts another user, and reports that before and after a request', async () => {
        await visit.be('User', 'bob');
        await visit.see(visit.tree, 'The page itself reads as admin; your requests are sent as bob.');
        await visit.see(visit.checkSummary, 'User "bob" cannot patch resource "deployments" in API group "apps"');
        await visit.apply();
        await visit.see(visit.notices, 'is forbidden');
      });

      test('supports the fields, rules and objects of a CRD', async () => {
        await visit.write(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: { plural: gadgets, singular: gadget, kind: Gadget }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: { type: string, enum: [small, large], description: How large it is. }
              count: { type: integer }
            x-kubernetes-validations:
            - rule: self.size != 'small' || self.count < 3
              message: small gadgets are few
`);
        await visit.apply();
        await visit.see(visit.notices, 'applied');
        await visit.write('apiVersion: example.com/v1\nkind: Gadget\nmetadata:\n  name: a\nspec:\n  count: 5\n  ');
        await visit.page.keyboard.type('siz');
        await visit.see(visit.page.locator('.cm-tooltip-autocomplete'), 'size');
        await visit.accept();
        await visit.see(visit.page.locator('.cm-tooltip-autocomplete'), 'small');
        await visit.page.keyboard.type('small');
        await visit.page.keyboard.press('Escape');
        await visit.see(visit.checkSummary, 'small gadgets are few');
        await visit.write(
          'apiVersion: example.com/v1\nkind: Gadget\nmetadata:\n  name: a\nspec:\n  count: 2\n  size: small\n',
        );
        await visit.apply();
        await visit.see(visit.tree, /Gadget 1\s*a/);
      });

      test('supports the keyboard for applying, tabs and menus', async () => {
        await visit.write(DEPLOYMENT);
        await visit.page.keyboard.press('ControlOrMeta+Enter');
        await visit.see(visit.notices, 'Deployment web applied');
        await visit.page.getByRole('tab', { name: 'Watch' }).focus();
        await visit.page.keyboard.press('ArrowRight');
        expect(await visit.page.getByRole('tab', { selected: true }).textContent()).not.toBe('Watch');
        await visit.page.getByRole('button', { name: 'More actions' }).focus();
        await visit.page.keyboard.press('Enter');
        await visit.page.keyboard.press('ArrowDown');
        expect(await visit.page.evaluate(() => document.activeElement?.textContent)).toContain('Replace');
        await visit.page.keyboard.press('Escape');
        expect(await visit.page.getByRole('menu').count()).toBe(0);
      });

      test('follows the colour scheme of the system until the user chooses one, and keeps the choice', async () => {
        const background = () => visit.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        const light = await background();
        await visit.page.emulateMedia({ colorScheme: 'dark' });
        const dark = await background();
        expect(dark).not.toBe(light);
        await visit.page.getByRole('button', { name: 'Light colours' }).click();
        await expect.poll(background).toBe(light);
        await visit.page.reload();
        await visit.page.locator('.cm-content').waitFor();
        await expect.poll(background).toBe(light);
      });
    });

    describe('a phone screen', () => {
      test.each(['light', 'dark'] as const)(
        'shows one part at a time without horizontal scrolling (%s)',
        async (colorScheme) => {
          const phone = await PlaygroundPage.open(browser, site.url, {
            viewport: { width: 390, height: 844 },
            hasTouch: true,
            isMobile: true,
            colorScheme,
          });
          await phone.see(phone.checkSummary, 'would be created');
          await phone.speed('60×');
          await phone.apply();
          const parts = phone.page.getByRole('navigation', { name: 'Parts of the page' });
          for (const part of await parts.getByRole('button').allTextContents()) {
            await parts.getByRole('button', { name: part, exact: true }).click();
            expect({ part, isTooWide: await phone.isTooWide() }).toEqual({ part, isTooWide: false });
          }
          await parts.getByRole('button', { name: 'Objects' }).click();
          await phone.see(phone.tree, /web\s*3\/3/);
          await phone.tree.locator('.leaf').first().click();
          await phone.see(phone.object, '3 of 3 ready');
          expect(phone.errors).toEqual([]);
          await phone.close();
        },
      );
    });
  },
);
