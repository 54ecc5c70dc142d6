/**
 * The contract of panels: what stands in the drawer of a wide page, and behind a tab of a narrow one. A panel has its
 * own file, gets the session and nothing else, and is registered in `index.ts` with one line.
 */
import type { ComponentChildren, FunctionComponent } from 'preact';
import type { Session } from '../session/session.js';

export interface PanelProps {
  readonly session: Session;
}

export interface Panel {
  /** In the state as `panel`, and in the page as `panel-ID`. */
  readonly id: string;
  /** One or two words. */
  readonly title: string;
  /** An SVG that takes `currentColor`, 16 by 16. */
  readonly icon?: ComponentChildren;
  readonly Panel: FunctionComponent<PanelProps>;
}
