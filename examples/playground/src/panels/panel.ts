/**
 * The interface of panels: tabs in the drawer of a wide page, or of a narrow page. A panel has its own file, gets only
 * the session, and is registered in `index.ts`.
 */
import type { ComponentChildren, FunctionComponent } from 'preact';
import type { Session } from '../session/session.js';
import type { PanelId } from './panel-ids.js';

export interface PanelProps {
  readonly session: Session;
}

export interface Panel {
  /** The value of `panel` in the state; the element's id is `panel-ID`. */
  readonly id: PanelId;
  /** One or two words. */
  readonly title: string;
  /** An SVG that takes `currentColor`, 16 by 16. */
  readonly icon?: ComponentChildren;
  readonly Panel: FunctionComponent<PanelProps>;
}
