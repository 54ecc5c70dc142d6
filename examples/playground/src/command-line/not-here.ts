/**
 * kubectl commands that the playground does not have, with the reason and an alternative.
 */
const NOTHING_RUNS = 'nothing runs here: pods are objects whose status moves on, without containers behind them';

const NOT_HERE: Readonly<Record<string, string>> = {
  logs: `${NOTHING_RUNS}, so there is no output. "events" and "describe" tell what happened to one`,
  exec: `${NOTHING_RUNS}, so there is no process to start in one`,
  attach: `${NOTHING_RUNS}, so there is no process to attach to`,
  cp: `${NOTHING_RUNS}, so there are no files`,
  debug: `${NOTHING_RUNS}, so there is nothing to debug in one. "describe" tells what is known of it`,
  'port-forward': `${NOTHING_RUNS}, so there is no port to reach`,
  proxy: 'the cluster is in this page and has no port; the panel "Requests" shows what is asked',
  top: `${NOTHING_RUNS}, so there is no usage to measure`,
  expose: 'a Service is made with a document: write one into the editor and "apply -f -"',
  diff: 'the line below the editor tells what an apply would change; "apply -f - --dry-run=server -o yaml" shows it whole',
  'cluster-info': 'the cluster is in this page and has no address. "version" and "api-resources" tell what it is',
  replace: '"Replace" is in the menu beside "Apply" in the editor',
  autoscale: 'write a HorizontalPodAutoscaler into the editor and "apply -f -"',
  drain: `${NOTHING_RUNS}, so there is no node to empty`,
};

/** Why a kubectl command is not available; undefined if it is available or not a kubectl command. */
export function whyNotHere(name: string): string | undefined {
  return Object.hasOwn(NOT_HERE, name) ? NOT_HERE[name] : undefined;
}
