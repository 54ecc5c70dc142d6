/**
 * An admission webhook: rejects objects without the label that its environment names.
 */
import type { Program } from 'orchplane/runtime';

const PORT = 8443;

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: {
    readonly uid: string;
    readonly operation: string;
    readonly resource: { readonly resource: string };
    readonly object: { readonly metadata: { readonly name: string; readonly labels?: Record<string, string> } } | null;
  };
}

export const webhook: Program = async ({ env, listen, log, untilStopped }) => {
  const label = env['REQUIRED_LABEL'] ?? 'team';
  listen(PORT, async (http) => {
    const { apiVersion, kind, request }: Review = await http.json();
    const { uid, operation, resource, object } = request;
    const allowed = object === null || object.metadata.labels?.[label] !== undefined;
    log(`${operation} ${resource.resource} ${object?.metadata.name ?? ''}: ${allowed ? 'allowed' : 'denied'}`);
    const response = allowed
      ? { uid, allowed }
      : { uid, allowed, status: { message: `the label "${label}" is missing` } };
    return Response.json({ apiVersion, kind, response });
  });
  log(`requires the label "${label}", serves on port ${PORT}`);
  await untilStopped();
};
