/**
 * Reads the log of a container for a component, and again after each start of the container.
 */
import type { ApiObject } from 'orchplane';
import { useEffect, useState } from 'preact/hooks';
import { clusterFetch } from '../command-line/cluster-shell.js';
import { logLines } from '../command-line/commands/logs.js';
import { Server } from '../command-line/server.js';
import { type Session, useSession } from '../session/session.js';
import { isMap, valueAt } from '../yaml/paths.js';

const MAX_LINES = 1_000;
/** The component renders at most once in this time. */
const BATCH_MS = 60;

export interface LogOptions {
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
}

export interface LogState {
  readonly lines: readonly string[];
  /** Why there are no more lines. */
  readonly note?: string;
}

export function useLog(session: Session, pod: ApiObject, options: LogOptions): LogState {
  const cluster = useSession(session, (state) => state.cluster);
  const [log, setLog] = useState<LogState>({ lines: [] });
  const { container, follow, previous, timestamps } = options;
  const { name, namespace = '', uid } = pod.metadata;
  const run = runOf(pod, container);
  useEffect(() => {
    const stop = new AbortController();
    const lines: string[] = [];
    const show = (note?: string): void => {
      if (stop.signal.aborted) return;
      const shown = lines.slice(-MAX_LINES);
      setLog(note === undefined ? { lines: shown } : { lines: shown, note });
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      const query = {
        container,
        follow: String(follow),
        previous: String(previous),
        timestamps: String(timestamps),
        tailLines: String(MAX_LINES),
      };
      const server = new Server(clusterFetch(() => cluster));
      for await (const line of logLines(server, { namespace, pod: name, query, signal: stop.signal })) {
        lines.push(line);
        timer ??= setTimeout(() => {
          timer = undefined;
          show();
        }, BATCH_MS);
      }
    };
    const finish = (note: string | undefined): void => {
      clearTimeout(timer);
      show(note);
    };
    show();
    read().then(
      () => finish(follow && !previous ? 'The container has ended.' : undefined),
      (error: unknown) => finish(error instanceof Error ? error.message : String(error)),
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [cluster, uid, run, container, follow, previous, timestamps, name, namespace]);
  return log;
}

/** A text that changes when the container starts. */
function runOf(pod: ApiObject, container: string): string {
  const statuses = ['status.containerStatuses', 'status.initContainerStatuses'].flatMap((path) => {
    const list = valueAt(pod, path);
    return Array.isArray(list) ? list.filter(isMap) : [];
  });
  const status = statuses.find(({ name }) => name === container);
  return `${String(status?.['restartCount'])} ${String(status?.['containerID'])}`;
}
