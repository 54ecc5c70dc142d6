/**
 * Makes a link from a session, and opens one. Opening builds the whole cluster first; the page changes only if that
 * succeeds.
 */
import { captureCluster } from 'orchplane/testing';
import { makeCluster } from '../session/make-cluster.js';
import type { Session } from '../session/session.js';
import { decodeShare, encodeShare, type SharedState, ShareError } from './share-link.js';

/** Kinds that record history and are not shared. */
const EXCLUDED_KINDS = new Set(['Event', 'Lease']);

/** The fragment of a link to the session's current state. Throws a ShareError if it would be too long. */
export function shareSession(session: Session, { withObjects = true } = {}): Promise<string> {
  const { text, panel } = session.state;
  const what: SharedState = { text, ...(panel === undefined ? {} : { panel }) };
  if (!withObjects) return encodeShare(what);
  const { objects, resourceVersion } = captureCluster(session.cluster);
  const kept = objects.filter(({ kind }) => !EXCLUDED_KINDS.has(kind));
  return encodeShare({ ...what, objects: kept, resourceVersion });
}

/** Opens a link. Returns false if the fragment is not a shared state; throws a ShareError if it cannot be opened. */
export async function openShare(session: Session, fragment: string): Promise<boolean> {
  const shared = await decodeShare(fragment);
  if (shared === undefined) return false;
  const { text, panel, objects, resourceVersion } = shared;
  if (objects !== undefined && resourceVersion !== undefined) {
    const old = session.cluster;
    session.replaceCluster(clusterOf(objects, resourceVersion));
    await old.close();
  }
  session.setText(text);
  if (panel !== undefined) session.openPanel(panel);
  return true;
}

function clusterOf(objects: NonNullable<SharedState['objects']>, resourceVersion: string) {
  try {
    return makeCluster({ from: { objects, resourceVersion } });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ShareError(`The objects of this link cannot be loaded into a cluster: ${why}`, { cause: error });
  }
}
