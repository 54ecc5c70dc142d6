/**
 * The responses of the recordings that differ in the dialect `orch`, because the specification is explicit and the reference
 * server does something else. Statements are rows of docs/specification.md.
 *
 * A statement about all responses of one form is a function here, which returns the response that the specification
 * requires; the replay compares it. All other steps are in orch-differences.json, with the status code they get.
 */
import { readFileSync } from 'node:fs';

const LISTED = JSON.parse(readFileSync(new URL('orch-differences.json', import.meta.url), 'utf8'));

const STATEMENTS = { 'E2.5': statusOfDelete, 'V1.3': withMinimalBookmarks };

/**
 * What the specification requires of a step: `{ statement, response }` with the whole response, `{ statement, status }` for a
 * listed step, or undefined where it agrees with the recording.
 */
export function specified({ group, name, steps, expect }, index) {
  const listed = LISTED.find(({ recording, step }) => recording === `${group}/${name}` && step === index + 1);
  if (listed !== undefined) return { statement: listed.statement, status: listed.status };
  for (const [statement, change] of Object.entries(STATEMENTS)) {
    const response = change(expect[index], steps[index]);
    if (response !== undefined) return { statement, response };
  }
  return undefined;
}

/** The listed steps. */
export function listedSteps() {
  return LISTED;
}

/** The kinds that return the object: those that the specification names, and further ones that it does not describe. */
const RETURNED = new Set([
  ...['resourcequotas', 'csidrivers', 'csinodes', 'deviceclasses'],
  ...['pods', 'persistentvolumeclaims', 'persistentvolumes', 'podtemplates', 'serviceaccounts', 'services'],
  ...['devicetaintrules', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'],
  ...['storageclasses', 'volumeattachments', 'volumeattributesclasses'],
]);

function statusOfDelete({ status, body, ...rest }, { method, path }) {
  if (method !== 'DELETE' || status >= 300 || body.kind === 'Status') return undefined;
  const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };
  if (Array.isArray(body.items)) {
    const details = { kind: body.kind.replace(/List$/, '') };
    return { ...rest, status, body: { ...success, details, code: 200 } };
  }
  const [resource, name] = path.split('/').slice(-2);
  if (RETURNED.has(resource)) return undefined;
  const [, group] = /^\/apis\/([^/]+)/.exec(path) ?? [];
  const { uid } = body.metadata;
  const details = { name, ...(group && { group }), kind: resource, ...(uid && { uid }) };
  return { ...rest, status, body: { ...success, details } };
}

function withMinimalBookmarks({ body, ...rest }, { watch }) {
  if (watch === undefined || !Array.isArray(body) || !body.some(isFullBookmark)) return undefined;
  return { ...rest, body: body.map((event) => (isFullBookmark(event) ? minimal(event) : event)) };
}

/** The bookmarks of built-in kinds are empty objects; those of custom resources have no further fields. */
function isFullBookmark({ type, object }) {
  return type === 'BOOKMARK' && 'creationTimestamp' in (object.metadata ?? {});
}

function minimal({ type, object: { kind, apiVersion, metadata } }) {
  const { creationTimestamp: _absent, ...kept } = metadata;
  return { type, object: { kind, apiVersion, metadata: kept } };
}
