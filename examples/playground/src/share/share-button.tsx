/**
 * The button that makes a link to what the page shows, and what opens such a link.
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
      title="A link to the editor's text and the objects as they are; nothing leaves this page"
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
      `Link copied: ${link.length} characters, with the text and every object but Events and Leases`,
    );
  } catch {
    // Pages without leave to write to the clipboard still show the link where links are shown.
    session.notify('info', 'The link is in the address bar; copy it from there');
  }
}

/** For the start of the page: true when the address held something to show. */
export async function openFromAddress(session: Session): Promise<boolean> {
  try {
    return await openShare(session, location.hash);
  } catch (error) {
    if (!(error instanceof ShareError)) throw error;
    session.notify('bad', error.message);
    // The page goes on as if nobody had given it a link.
    return false;
  }
}
