/**
 * Every scenario of the playground runs as described, in a session without a page.
 */
import { ConfigMap } from 'orchplane/kinds';
import { afterEach, describe, expect, test } from 'vitest';
import { scenarios } from '../../../examples/playground/src/scenarios/index.js';
import { progressOf } from '../../../examples/playground/src/scenarios/progress.js';
import { leaveScenario, ScenarioRunner } from '../../../examples/playground/src/scenarios/runner.js';
import { Session } from '../../../examples/playground/src/session/session.js';
import { forkAt } from '../../../examples/playground/src/time/past.js';

let session: Session | undefined;

afterEach(async () => {
  if (session !== undefined) await leaveScenario(session);
  await session?.close();
  session = undefined;
});

describe.each(scenarios)('scenario $title', (scenario) => {
  test('runs every step as described', { timeout: 60_000 }, async () => {
    session = new Session();
    // Runs the cluster clock fast, because pods take seconds to start.
    session.store.set({ speed: 40 });
    const runner = await ScenarioRunner.start(session, scenario);
    for (const step of scenario.steps) {
      const outcome = await runner.step();
      const printed = outcome.results.map(({ line, text }) => `$ ${line}\n${text}`).join('\n');
      expect(outcome.state, `${step.title}: ${'reason' in outcome ? outcome.reason : ''}\n${printed}`).toBe('done');
      const object = step.object ?? scenario.object;
      if (object !== undefined) expect(session.state.selected).toEqual(object);
    }
    expect(runner.isOver).toBe(true);
  });

  test('has short texts', () => {
    expect(scenario.summary.length).toBeLessThan(120);
    for (const { title, description, lines } of scenario.steps) {
      expect(title.length).toBeLessThan(45);
      expect(description.length).toBeLessThan(180);
      expect(lines.length).toBeGreaterThan(0);
    }
    // The last step selects an object, so that its owners are visible.
    expect(scenario.steps.at(-1)?.object ?? scenario.object).toBeDefined();
  });
});

test('reports why a step differs and repeats it', { timeout: 60_000 }, async () => {
  session = new Session();
  let isFine = false;
  const runner = await ScenarioRunner.start(session, {
    id: 'x',
    title: 'x',
    summary: 'x',
    steps: [
      {
        title: 'x',
        description: 'x',
        lines: ['get nothing'],
        check: async () => (isFine ? undefined : 'not yet'),
      },
    ],
  });
  const first = runner.step({ timeoutMs: 0 });
  expect(await first).toMatchObject({ state: 'differs', reason: 'not yet', results: [{ code: 1 }] });
  expect(runner.next).toBe(0);
  isFine = true;
  expect(await runner.step()).toMatchObject({ state: 'done' });
  await expect(runner.step()).rejects.toThrow('has no more steps');
});

test('restores the cluster, text and namespace of the user after a scenario', { timeout: 60_000 }, async () => {
  session = new Session();
  const mine = session.cluster;
  const [first, second] = scenarios;
  if (first === undefined || second === undefined) throw new Error('there are scenarios');
  session.setText('mine: true\n');
  session.store.set({ namespace: 'kube-system' });
  await mine.applyYaml('apiVersion: v1\nkind: ConfigMap\nmetadata: { name: mine }\n');
  const progress = progressOf(session);
  await progress.start(first);
  expect(session.cluster).not.toBe(mine);
  expect(session.state).toMatchObject({ text: '', namespace: 'default', temporary: { title: first.title } });
  // A second scenario and a fork do not replace the saved state.
  await progress.start(second);
  forkAt(session, Number(session.cluster.resourceVersion));
  await progress.goBack();
  expect(session.cluster).toBe(mine);
  expect(session.state).toMatchObject({ text: 'mine: true\n', namespace: 'kube-system', temporary: undefined });
  expect(progress.store.get().runner).toBeUndefined();
  expect(await session.cluster.api(ConfigMap).find('mine')).toBeDefined();
});
