/**
 * kubectl commands that the playground does not have, with the reason and an alternative.
 */
const NO_CONTAINERS = 'nothing runs here: pods are objects without containers';

const UNSUPPORTED_COMMANDS: Readonly<Record<string, string>> = {
  logs: `${NO_CONTAINERS}, so there is no output. Use "events" and "describe"`,
  exec: `${NO_CONTAINERS}, so no process can be started`,
  attach: `${NO_CONTAINERS}, so there is no process to attach to`,
  cp: `${NO_CONTAINERS}, so there are no files`,
  debug: `${NO_CONTAINERS}, so there is nothing to debug. Use "describe"`,
  'port-forward': `${NO_CONTAINERS}, so there is no port to forward to`,
  proxy: 'the cluster is in this page and has no port; the panel "Requests" shows all requests',
  top: `${NO_CONTAINERS}, so there is no usage to measure`,
  expose: 'write a Service into the editor and run "apply -f -"',
  diff: 'the line below the editor shows what an apply would change; "apply -f - --dry-run=server -o yaml" prints the result',
  'cluster-info': 'the cluster is in this page and has no address. Use "version" and "api-resources"',
  replace: 'use "Replace" in the menu beside "Apply" in the editor',
  autoscale: 'write a HorizontalPodAutoscaler into the editor and run "apply -f -"',
  drain: `${NO_CONTAINERS}, so there is no node to drain`,
};

/** Why a kubectl command is not available; undefined if it is available or not a kubectl command. */
export function unsupportedReason(name: string): string | undefined {
  return Object.hasOwn(UNSUPPORTED_COMMANDS, name) ? UNSUPPORTED_COMMANDS[name] : undefined;
}
