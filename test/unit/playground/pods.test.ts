/**
 * Pods of the playground run: their logs, commands, shell and usage on the command line.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { clusterShell } from '../../../examples/playground/src/command-line/cluster-shell.js';
import { completeLine } from '../../../examples/playground/src/command-line/complete.js';
import { runForText, runLine } from '../../../examples/playground/src/command-line/interpreter.js';
import { makeCluster } from '../../../examples/playground/src/session/make-cluster.js';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const cluster of open.splice(0)) await cluster.close();
});

async function begin() {
  const cluster = makeCluster({ now: Date.UTC(2026, 0, 1) });
  open.push(cluster);
  await cluster.clock.advance(1_000);
  const shell = clusterShell(() => cluster);
  /** The output of a line followed by its error. */
  const run = async (line: string) => {
    const { output, error } = await runForText(shell, line);
    return [output, error].filter((text) => text !== '').join('\n');
  };
  /** Runs a line and lets the containers start. */
  const start = async (line: string) => {
    const text = await run(line);
    await cluster.clock.advance(3_000);
    return text;
  };
  return { cluster, shell, run, start };
}

describe('images of the playground', () => {
  test('run a web server on the ports of the container and of its probes', async () => {
    const { run, start } = await begin();
    await start('run shop --image=example.com/shop:2 --port=8080');
    expect(await run('logs shop')).toBe('example.com/shop:2 serves on port 8080');
    expect(await run('exec shop -- wget -qO- localhost:8080/cart')).toBe('hello from shop (example.com/shop:2)');
    expect(await run('logs shop --tail=1')).toMatch(/ GET \/cart 200$/);
    expect(await run('exec shop -- curl http://localhost:81/')).toBe(
      'curl: ECONNREFUSED\ncommand terminated with exit code 1',
    );
  });

  test('answer with an error if their tag is broken', async () => {
    const { run, start } = await begin();
    await start('run web --image=nginx:1.30-broken');
    expect(await run('exec web -- wget -qO- localhost')).toBe(
      'wget: server returned error: HTTP 503\ncommand terminated with exit code 1',
    );
  });

  test('crash if the pod has the label playground/crash', async () => {
    const { cluster, run, start } = await begin();
    await start('run web --image=nginx --labels=playground/crash=true');
    await cluster.clock.advance(1_000);
    expect(await run('get pods --no-headers')).toMatch(/^web +0\/1 +CrashLoopBackOff +1 /);
    expect(await run('logs web --previous')).toBe('starting\nfatal: this pod has the label playground/crash');
  });

  test('run the command of the container if the page has it', async () => {
    const { cluster, run, start } = await begin();
    await start('run clock --image=postgres:18 --command -- /bin/sh -c "while true; do date; sleep 5; done"');
    await cluster.clock.advance(5_000);
    expect(await run('logs clock')).toMatch(/^Thu, 01 Jan 2026 00:00:\d\d GMT\nThu, 01 Jan 2026 00:00:\d\d GMT$/);
    await start('run once --image=busybox --restart=Never -- sh -c "echo done; exit 3"');
    expect(await run('get pod once --no-headers')).toMatch(/^once +0\/1 +Error +0 /);
    await start('run empty --image=alpine --restart=Never');
    expect(await run('get pod empty --no-headers')).toMatch(/^empty +0\/1 +Completed +0 /);
    await start('run bad --image=busybox --restart=Never -- nginx -g');
    expect(await run('logs bad')).toBe('exec: "nginx": executable file not found in $PATH');
  });

  test('run without a URL report the usage of the load generator', async () => {
    const { run, start } = await begin();
    await start('run load --image=playground/load --restart=Never');
    expect(await run('logs load')).toBe('usage: load URL');
  });
});

describe('the shell of the playground', () => {
  test.each([
    ['echo one; echo two', 'one\ntwo'],
    ['false && echo no || echo yes', 'yes'],
    ['X=5; echo "$X$? \\$X" \'$X\'', '50 $X $X'],
    ['echo on $(hostname) # a comment', 'on box'],
    ['echo a > /tmp/x; echo b >> /tmp/x; cat /tmp/x', 'a\nb'],
    ['if test -f /tmp/none; then echo yes; else echo no; fi', 'no'],
    ['until test -f /tmp/y; do echo once; touch /tmp/y; done', 'once'],
    ['sh -c "exit 4" || echo $?', 'command terminated with exit code 4'],
    [
      'X=$(cat /none) && echo never',
      'cat: ENOENT: no such file or directory, /none\ncommand terminated with exit code 1',
    ],
    ['nope', 'sh: nope: not found\ncommand terminated with exit code 127'],
    ['ls | cat', 'sh: syntax error: unexpected "|"\ncommand terminated with exit code 2'],
    [
      'while true; do echo',
      'sh: syntax error: unexpected end of the line, "done" expected\ncommand terminated with exit code 2',
    ],
    ['echo "open', 'sh: syntax error: unterminated quoted string\ncommand terminated with exit code 2'],
  ])('runs %s', async (script, expected) => {
    const { shell, start, cluster } = await begin();
    await start('run box --image=nginx');
    const lines: string[] = [];
    const quoted = `'${script.replaceAll("'", "'\\''")}'`;
    const ended = runLine(shell, `exec box -- sh -c ${quoted}`, { write: (text) => void lines.push(text) });
    await cluster.clock.advance(100);
    await ended;
    expect(lines.join('\n')).toBe(expected);
  });

  test('reads lines from the terminal until its input ends', async () => {
    const { shell, start } = await begin();
    await start('run box --image=nginx');
    const lines: string[] = [];
    const prompts: string[] = [];
    const typed = new TransformStream<Uint8Array, Uint8Array>();
    const writer = typed.writable.getWriter();
    const type = (text: string) => writer.write(new TextEncoder().encode(text));
    const ended = runLine(shell, 'exec -it box -- sh', {
      write: (text) => void lines.push(text),
      input(prompt) {
        prompts.push(prompt);
        return typed.readable;
      },
    });
    await type('NAME=world\necho he');
    await type('llo $NAME\n');
    await expect.poll(() => lines).toEqual(['hello world']);
    await type('false\n');
    await writer.close();
    expect(await ended).toBe(1);
    expect(lines).toEqual(['hello world', 'command terminated with exit code 1']);
    expect(prompts).toEqual(['box #']);
  });
});

describe('the commands of the playground about running pods', () => {
  test('logs selects lines, containers and pods', async () => {
    const { cluster, run, start } = await begin();
    await start(
      'create deployment tick --image=busybox --replicas=2 -- sh -c "while true; do echo tick; sleep 10; done"',
    );
    await cluster.clock.advance(20_000);
    expect(await run('logs deployment/tick --tail=1')).toMatch(/^tick\nFound 2 pods, using pod\/tick-\S+$/);
    expect(await run('logs -l app=tick --since=5s --timestamps')).toMatch(
      /^2026-01-01T00:00:2\d\.\d+Z tick\n2026-01-01T00:00:2\d\.\d+Z tick$/,
    );
    expect(await run('logs -l app=none')).toBe('No resources found in default namespace.');
    expect(await run('logs none')).toBe('Error from server (NotFound): pods "none" not found');
    expect(await run('logs deployment/tick -c none')).toContain('container none is not valid for pod tick-');
    expect(await run('logs')).toBe('error: expected POD, TYPE/NAME or a selector (-l)');
    expect(await run('logs tick --since=soon')).toContain('not found');
    expect(await run('logs deployment/tick --tail=x')).toContain('invalid argument "x" for "--tail" flag');
    expect(await run('logs deployment/tick --previous')).toContain('previous terminated container "busybox"');
  });

  test('logs -f follows until it is stopped', async () => {
    const { cluster, shell, start } = await begin();
    await start('run clock --image=busybox -- sh -c "while true; do echo tick; sleep 10; done"');
    const stop = new AbortController();
    const lines: string[] = [];
    const code = runLine(shell, 'logs clock -f', { signal: stop.signal, write: (text) => void lines.push(text) });
    await expect.poll(() => lines).toEqual(['tick']);
    await cluster.clock.advance(10_100);
    await expect.poll(() => lines).toEqual(['tick', 'tick']);
    stop.abort();
    expect(await code).toBe(0);
  });

  test('exec chooses a container, checks permissions and reports errors', async () => {
    const { cluster, run } = await begin();
    const containers = [
      { name: 'one', image: 'nginx' },
      { name: 'two', image: 'redis', ports: [{ containerPort: 6379 }] },
    ];
    await cluster.applyYaml(
      JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'both' }, spec: { containers } }),
    );
    await cluster.clock.advance(3_000);
    expect(await run('exec both -- cat /etc/hostname')).toBe('both\nDefaulted container "one" out of: one, two');
    expect(await run('logs both -c two')).toBe('redis serves on port 6379');
    expect(await run('exec both -c two -- python')).toContain('executable file not found in $PATH');
    expect(await run('exec both')).toBe('error: you must specify at least one command for the container');
    await run('create role watcher --verb=get,list --resource=pods,pods/log');
    await run('create rolebinding watcher --role=watcher --user=alice');
    expect(await run('logs both -c two --as=alice')).toBe('redis serves on port 6379');
    expect(await run('exec both -c one --as=alice -- ls')).toBe(
      'Error from server (Forbidden): pods "both" is forbidden: User "alice" cannot create resource "pods/exec" in API group "" in the namespace "default"',
    );
  });

  test('top prints the usage of pods and nodes', async () => {
    const { run, start } = await begin();
    await start('create deployment web --image=nginx');
    expect(await run('top pods')).toMatch(/^NAME +CPU\(cores\) +MEMORY\(bytes\)\nweb-\S+ +1m +24Mi$/);
    expect(await run('top pod -l app=web --containers')).toMatch(
      /^POD +NAME +CPU\(cores\).*\nweb-\S+ +nginx +1m +24Mi$/,
    );
    expect(await run('top pods -A')).toMatch(/\nkube-system +metrics-server +/);
    expect(await run('top nodes')).toMatch(/^NAME +CPU\(cores\) +CPU\(%\) .*\nnode-1 +\dm +0% +\d+Mi +0%\nnode-2 +/);
    expect(await run('top pods -l app=none')).toBe('No resources found in default namespace.');
    expect(await run('top services')).toBe('error: top services: must be pods or nodes');
  });

  test('expose and autoscale create objects for a workload', async () => {
    const { run, start } = await begin();
    await start('create deployment web --image=nginx --port=8080');
    expect(await run('expose deployment web --port=80 --target-port=8080')).toBe('service/web exposed');
    expect(await start('expose deployment/web --name=direct --type=NodePort')).toBe('service/direct exposed');
    expect(await run('exec deployment/web -- wget -qO- http://web')).toContain('hello from web-');
    expect(await run('exec deployment/web -- wget -qO- http://direct:8080')).toContain('hello from web-');
    expect(await run('expose configmap kube-root-ca.crt --port=80')).toBe('error: cannot expose a ConfigMap');
    expect(await run('autoscale deployment web')).toContain('error: --max=MAXPODS is required');
    expect(await run('autoscale deployment web --max=5 --cpu-percent=50')).toBe(
      'horizontalpodautoscaler.autoscaling/web autoscaled',
    );
    expect(
      await run('get hpa web -o jsonpath={.spec.scaleTargetRef.kind}-{.spec.minReplicas}-{.spec.maxReplicas}'),
    ).toBe('Deployment-1-5');
  });

  test('completion offers the names of pods', async () => {
    const { shell, start } = await begin();
    await start('run web --image=nginx');
    expect((await completeLine(shell, 'logs w')).line).toBe('logs web ');
    expect((await completeLine(shell, 'exec pod/w')).line).toBe('exec pod/web ');
  });
});
