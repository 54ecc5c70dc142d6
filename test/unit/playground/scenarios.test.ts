/**
 * Every scenario of the playground does what it says, in a session without a page.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { scenarios } from '../../../examples/playground/src/scenarios/index.js';
import { ScenarioRunner } from '../../../examples/playground/src/scenarios/runner.js';
import { Session } from '../../../examples/playground/src/session/session.js';

let session: Session | undefined;

afterEach(async () => {
  await session?.cluster.close();
  session = undefined;
});

describe.each(scenarios)('$title', (scenario) => {
  test('every step does what it says', { timeout: 60_000 }, async () => {
    session = new Session();
    // Pods take seconds of the cluster; the machine has none to give.
    session.store.set({ speed: 40 });
    const runner = await ScenarioRunner.begin(session, scenario);
    for (const step of scenario.steps) {
      const outcome = await runner.step();
      const told = outcome.ran.map(({ line, text }) => `$ ${line}\n${text}`).join('\n');
      expect(outcome.state, `${step.title}: ${'reason' in outcome ? outcome.reason : ''}\n${told}`).toBe('done');
    }
    expect(runner.isOver).toBe(true);
  });

  test('is short and plain', () => {
    expect(scenario.summary.length).toBeLessThan(120);
    for (const { title, prose, lines } of scenario.steps) {
      expect(title.length).toBeLessThan(45);
      expect(prose.length).toBeLessThan(180);
      expect(lines.length).toBeGreaterThan(0);
    }
  });
});

test('a step that is not as it was said tells why, and can be done again', { timeout: 60_000 }, async () => {
  session = new Session();
  let isFine = false;
  const runner = await ScenarioRunner.begin(session, {
    id: 'x',
    title: 'x',
    summary: 'x',
    steps: [
      {
        title: 'x',
        prose: 'x',
        lines: ['get nothing'],
        check: async () => (isFine ? undefined : 'not yet'),
      },
    ],
  });
  const first = runner.step({ patienceMs: 0 });
  expect(await first).toMatchObject({ state: 'differs', reason: 'not yet', ran: [{ code: 1 }] });
  expect(runner.next).toBe(0);
  isFine = true;
  expect(await runner.step()).toMatchObject({ state: 'done' });
  await expect(runner.step()).rejects.toThrow('is over');
});
