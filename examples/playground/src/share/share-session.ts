/**
 * A session ⇄ a link. Opening one makes a whole cluster of it first; only when that has worked does the page change.
 */
import { captureCluster } from 'orchplane/testing';
import { makeCluster } from '../session/make-cluster.js';
import type { Session } from '../session/session.js';
import { decodeShare, encodeShare, type SharedState, ShareError } from './share-link.js';

/** What tells of the past of a cluster, and not of what it is. */
const LEFT_OUT = new Set(['Event', 'Lease']);

/** The fragment of a link to the session as it is. Throws a ShareError when it is too much for one. */
export function shareSession(session: Session, { withObjects = true } = {}): Promise<string> {
  const { text, panel } = session.state;
  const what: SharedState = { text, ...(panel === undefined ? {} : { panel }) };
  if (!withObjects) return encodeShare(what);
  const { objects, resourceVersion } = captureCluster(session.cluster);
  const kept = objects.filter(({ kind }) => !LEFT_OUT.has(kind));
  return encodeShare({ ...what, objects: kept, resourceVersion });
}

/** Opens a link. False when the fragment is none of ours; throws a ShareError when it is, and cannot be opened. */
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
    return makeCluster(undefined, { from: { objects, resourceVersion } });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ShareError(`The objects of this link cannot be put into a cluster: ${why}`, { cause: error });
  }
}
