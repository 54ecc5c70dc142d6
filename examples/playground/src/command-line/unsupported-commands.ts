/**
 * kubectl commands that the playground does not have, with the reason and an alternative.
 */
const UNSUPPORTED_COMMANDS: Readonly<Record<string, string>> = {
  attach: 'use "logs -f" for the output of a program, and "exec -it" for a shell next to it',
  cp: 'use "exec" with cat to read a file, and with sh -c to write one',
  debug: 'every image of this page has a shell: use "exec -it POD -- sh"',
  'port-forward': 'the page has no ports. Use "exec" with wget to send a request in the cluster',
  proxy: 'the cluster is in this page and has no port; the panel "Requests" shows all requests',
  diff: 'the line below the editor shows what an apply would change; "apply -f - --dry-run=server -o yaml" prints the result',
  'cluster-info': 'the cluster is in this page and has no address. Use "version" and "api-resources"',
  replace: 'use "Replace" in the menu beside "Apply" in the editor',
  drain: 'patch spec.unschedulable of the node, and delete its pods',
};

/** Why a kubectl command is not available; undefined if it is available or not a kubectl command. */
export function unsupportedReason(name: string): string | undefined {
  return Object.hasOwn(UNSUPPORTED_COMMANDS, name) ? UNSUPPORTED_COMMANDS[name] : undefined;
}
