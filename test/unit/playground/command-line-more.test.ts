/**
 * Commands of the playground's command line: wait, run, JSONPath output, and unsupported commands.
 */
import { testCluster } from 'orchplane/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { clusterShell } from '../../../examples/playground/src/command-line/cluster-shell.js';
import { runForText } from '../../../examples/playground/src/command-line/interpreter.js';
import { jsonPathText } from '../../../examples/playground/src/command-line/json-path.js';
import { nextTurn } from '../../../src/util/clock.js';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const cluster of open.splice(0)) await cluster.close();
});

function put() {
  const cluster = testCluster({ dialect: 'kubernetes' });
  open.push(cluster);
  const shell = clusterShell(() => cluster);
  const run = async (line: string) => {
    const { output, error } = await runForText(shell, line);
    return [output, error].filter((text) => text !== '').join('\n');
  };
  return { cluster, run };
}

const READY = `'{"status":{"conditions":[{"type":"Ready","status":"True"}],"phase":"Running"}}'`;

describe('playground wait command', () => {
  test('waits for a condition, a value or the deletion of an object', async () => {
    const { run } = put();
    expect(await run('run web --image=nginx:1.29')).toBe('pod/web created');
    const ready = run('wait pod/web --for=condition=Ready');
    const running = run("wait pods --all --for=jsonpath='{.status.phase}'=Running");
    const gone = run('wait pod web --for=delete');
    await run(`patch pod web --subresource=status --type=merge -p ${READY}`);
    expect(await ready).toBe('pod/web condition met');
    expect(await running).toBe('pod/web condition met');
    await run('delete pod web --force');
    expect(await gone).toBe('pod/web condition met');
    expect(await run('wait pod web --for=delete')).toBe('');
  });

  test('times out by the clock of the cluster', async () => {
    const { cluster, run } = put();
    await run('run web --image=nginx:1.29');
    // The command polls that clock with a timer of the page.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const waiting = run('wait pod/web --for=condition=Ready --timeout=1m30s');
    while (vi.getTimerCount() === 0) await nextTurn();
    await cluster.clock.advance(89_000);
    vi.runOnlyPendingTimers();
    expect(await Promise.race([waiting, nextTurn().then(() => 'still waiting')])).toBe('still waiting');
    await cluster.clock.advance(1_000);
    vi.runOnlyPendingTimers();
    expect(await waiting).toBe('error: timed out waiting for the condition on pods/web');
    expect(await run('wait pod/web --for=condition=Ready --timeout=0')).toMatch(/^error: timed out/);
    expect(await run('wait pod/nope --for=condition=Ready')).toContain('pods "nope" not found');
    expect(await run('wait pod/web --for=luck')).toBe('error: unrecognized condition: "luck"');
    expect(await run('wait pod/web --for=delete --timeout=soon')).toContain('invalid duration "soon"');
  });
});

test('prints values of simple JSONPath expressions', async () => {
  const { run } = put();
  await run('create configmap a --from-literal=x.y=1');
  await run('create configmap b --from-literal=z=2');
  expect(await run("get cm b -o jsonpath='{.metadata.name}={.data.z}{.data.nothing}'")).toBe('b=2');
  expect(await run("get cm -o jsonpath='{.items[*].metadata.name}'")).toBe('a b');
  expect(await run("get cm a -o jsonpath='{.data.x\\.y}'")).toBe('1');
  expect(await run("get cm a -o jsonpath='{range .items[*]}{.x}{end}'")).toMatch(
    /^error: unsupported JSONPath .* loops/,
  );
  expect(jsonPathText(`{.a[-1]}{"\\n"}{.a[0].b['c.d']}`, { a: [{ b: { 'c.d': true } }, 7] })).toBe('7\ntrue');
  expect(jsonPathText('.a', { a: { b: 1 } })).toBe('{"b":1}');
});

test('explains why a command is not supported', async () => {
  const { run } = put();
  expect(await run('kubectl attach web')).toMatch(/^error: "attach" is not available: use "logs -f"/);
  expect(await run('port-forward web 8080')).toContain('is not available: the page has no ports');
  expect(await run('top pods')).toBe('error: Metrics API not available');
  for (const name of ['diff', 'cluster-info']) expect(await run(name)).toContain('is not available');
  expect(await run('run web')).toBe('error: required flag(s) "image" not set');
});
