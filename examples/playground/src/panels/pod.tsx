/**
 * The pod panel: the live log of a container, and a terminal in it.
 */
import type { ApiObject } from 'orchplane';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Terminal } from '../command-line/terminal.js';
import { isSystemObject } from '../objects/tree.js';
import { type LogOptions, useLog } from '../pods/use-log.js';
import { refKey, refOf, sameRef } from '../session/refs.js';
import { type Session, useSession } from '../session/session.js';
import { useStore } from '../session/store.js';
import { Switch } from '../ui/switch.js';
import { TerminalView } from '../ui/terminal-view.js';
import { isMap, valueAt } from '../yaml/paths.js';
import type { Panel, PanelProps } from './panel.js';

function PodPanel({ session }: PanelProps) {
  const pods = usePods(session);
  const pod = useChosenPod(session, pods);
  const [chosenContainer, setContainer] = useState('');
  const [follow, setFollow] = useState(true);
  const [previous, setPrevious] = useState(false);
  const [timestamps, setTimestamps] = useState(false);
  if (pod === undefined) return <p class="empty">No pods yet. Apply a Deployment, or run "run web --image=nginx".</p>;
  const containers = containersOf(pod);
  const container = containers.includes(chosenContainer) ? chosenContainer : (containers[0] ?? '');
  return (
    <div class="pod">
      <div class="tools">
        <label class="field labelled">
          <span>Pod</span>
          <select
            id="pod-name"
            value={refKey(refOf(pod))}
            onChange={({ currentTarget: { value } }) => {
              const found = pods.find((each) => refKey(refOf(each)) === value);
              if (found !== undefined) session.select(refOf(found));
            }}
          >
            {pods.map((each) => (
              <option key={refKey(refOf(each))} value={refKey(refOf(each))}>
                {nameOf(each)}
              </option>
            ))}
          </select>
        </label>
        <label class="field labelled">
          <span>Container</span>
          <select id="pod-container" value={container} onChange={({ currentTarget: { value } }) => setContainer(value)}>
            {containers.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <Switch label="Follow" isOn={follow} set={setFollow} title="Shows new lines as they are written" />
        <Switch label="Previous" isOn={previous} set={setPrevious} title="The container before its last restart" />
        <Switch label="Timestamps" isOn={timestamps} set={setTimestamps} />
      </div>
      <div class="pod-parts">
        <Log session={session} pod={pod} options={{ container, follow, previous, timestamps }} />
        <PodTerminal session={session} pod={pod} container={container} />
      </div>
    </div>
  );
}

interface LogProps {
  readonly session: Session;
  readonly pod: ApiObject;
  readonly options: LogOptions;
}

function Log({ session, pod, options }: LogProps) {
  const { lines, note } = useLog(session, pod, options);
  const output = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  // Follow the newest line, unless the user has scrolled back.
  useEffect(() => {
    if (isAtEnd.current) output.current?.scrollTo({ top: output.current.scrollHeight });
  }, [lines, note]);
  return (
    <div
      class="terminal-output pod-log"
      ref={output}
      role="log"
      aria-label={`Log of ${pod.metadata.name}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - 24;
      }}
    >
      {lines.length > 0 && <pre>{lines.join('\n')}</pre>}
      {note !== undefined && <p class="muted">{note}</p>}
    </div>
  );
}

/** The button that opens a shell; it has the focus when the shell ends. */
const OPEN_ID = 'pod-shell';

interface PodTerminalProps {
  readonly session: Session;
  readonly pod: ApiObject;
  readonly container: string;
}

function PodTerminal({ session, pod, container }: PodTerminalProps) {
  const shell = shellOf(session);
  const { terminal } = shell;
  const running = useStore(terminal.store, (state) => state.running);
  const { name, namespace = '' } = pod.metadata;
  const target = `${pod.metadata.uid} ${container}`;
  // A terminal belongs to one container. It stays open while another panel is shown.
  useEffect(() => {
    if (shell.target !== target) {
      terminal.stop();
      terminal.clear();
    }
    shell.target = target;
  }, [shell, terminal, target]);
  return (
    <TerminalView
      terminal={terminal}
      id="pod-command"
      label={`Shell in ${name}`}
      prompt="#"
      placeholder="ls /etc"
      hint={<p class="terminal-hint">A shell with a few commands: type help to list them.</p>}
      closed={
        <button
          type="button"
          class="small"
          id={OPEN_ID}
          disabled={running !== undefined}
          onClick={() => {
            const ended = terminal.run(`exec -it ${name} -n ${namespace} -c ${container} -- sh`);
            void ended.then(() => setTimeout(() => document.getElementById(OPEN_ID)?.focus()));
          }}
        >
          {`Open a shell in ${container}`}
        </button>
      }
    />
  );
}

interface PodShell {
  readonly terminal: Terminal;
  /** The container that the terminal belongs to. */
  target: string;
}

const shells = new WeakMap<Session, PodShell>();

function shellOf(session: Session): PodShell {
  const shell = shells.get(session) ?? { terminal: new Terminal(session), target: '' };
  shells.set(session, shell);
  return shell;
}

/** All pods, those of the namespace `default` first. Pods that every cluster has are hidden unless selected. */
function usePods(session: Session): readonly ApiObject[] {
  const objects = useSession(session, (state) => state.objects);
  const selected = useSession(session, (state) => state.selected);
  return useMemo(() => {
    const pods = [...objects.values()].filter(({ kind, apiVersion }) => kind === 'Pod' && apiVersion === 'v1');
    return pods
      .filter((pod) => !isSystemObject(pod) || sameRef(refOf(pod), selected))
      .sort((left, right) => (sortKey(left) < sortKey(right) ? -1 : 1));
  }, [objects, selected]);
}

function sortKey({ metadata: { namespace = '', name } }: ApiObject): string {
  return `${namespace === 'default' ? '' : namespace}/${name}`;
}

/** The selected pod; while another object is selected, the last one, or the first of all. */
function useChosenPod(session: Session, pods: readonly ApiObject[]): ApiObject | undefined {
  const selected = useSession(session, (state) => state.selected);
  const last = useRef('');
  const withKey = (key: string) => pods.find((pod) => refKey(refOf(pod)) === key);
  const chosen = (selected && withKey(refKey(selected))) ?? withKey(last.current) ?? pods[0];
  last.current = chosen === undefined ? '' : refKey(refOf(chosen));
  return chosen;
}

function nameOf({ metadata: { name, namespace } }: ApiObject): string {
  return namespace === 'default' ? name : `${namespace}/${name}`;
}

/** The names of the containers, those of the init containers last. */
function containersOf(pod: ApiObject): readonly string[] {
  return ['spec.containers', 'spec.initContainers'].flatMap((path) => {
    const containers = valueAt(pod, path);
    return Array.isArray(containers) ? containers.filter(isMap).map(({ name }) => String(name)) : [];
  });
}

export const podPanel: Panel = { id: 'pod', title: 'Pod', Panel: PodPanel };
