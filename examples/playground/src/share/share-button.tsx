/**
 * The button that makes a link to the page's state, and the function that opens such a link.
 */
import { useState } from 'preact/hooks';
import type { PanelProps } from '../panels/panel.js';
import type { Session } from '../session/session.js';
import { ShareError } from './share-link.js';
import { openShare, shareSession } from './share-session.js';

export function ShareButton({ session }: PanelProps) {
  const [isBusy, setBusy] = useState(false);
  const share = async (): Promise<void> => {
    setBusy(true);
    try {
      await copyLink(session);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      id="share"
      disabled={isBusy}
      title="Copies a link that contains the editor's text and all objects; nothing is sent to a server"
      onClick={() => void share()}
    >
      Share
    </button>
  );
}

async function copyLink(session: Session): Promise<void> {
  let fragment: string;
  try {
    fragment = await shareSession(session);
  } catch (error) {
    if (!(error instanceof ShareError)) throw error;
    session.notify('bad', error.message);
    return;
  }
  const link = `${location.href.replace(/#.*$/, '')}#${fragment}`;
  history.replaceState(null, '', link);
  session.markSaved();
  try {
    await navigator.clipboard.writeText(link);
    session.notify(
      'good',
      `Link copied: ${link.length} characters, with the text and all objects except Events and Leases`,
    );
  } catch {
    // Without permission to write to the clipboard, the link is in the address bar.
    session.notify('info', 'The link is in the address bar; copy it from there');
  }
}

/** Runs at the start of the page. Returns true if the address contained a shared state. */
export async function openFromAddress(session: Session): Promise<boolean> {
  try {
    return await openShare(session, location.hash);
  } catch (error) {
    if (!(error instanceof ShareError)) throw error;
    session.notify('bad', error.message);
    // The page starts as it does without a link.
    return false;
  }
}
