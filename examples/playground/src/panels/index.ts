/**
 * All panels, in the order of their tabs, and additional items of the header.
 */
import type { FunctionComponent } from 'preact';
import { openWithExample } from '../session/first-example.js';
import type { Session } from '../session/session.js';
import { openFromAddress, ShareButton } from '../share/share-button.js';
import { accessPanel } from './access.js';
import { celPanel } from './cel.js';
import { commandLinePanel } from './command-line.js';
import type { Panel, PanelProps } from './panel.js';
import { podPanel } from './pod.js';
import { requestsPanel } from './requests.js';
import { scenariosPanel } from './scenarios.js';
import { timePanel } from './time.js';
import { watchPanel } from './watch.js';

export const panels: readonly Panel[] = [
  watchPanel,
  commandLinePanel,
  podPanel,
  scenariosPanel,
  timePanel,
  accessPanel,
  celPanel,
  requestsPanel,
];

/** Items at the right end of the header, such as the share button. */
export const headerItems: readonly FunctionComponent<PanelProps>[] = [ShareButton];

/**
 * Run once with a new session, for example to read the address of the page. The first that returns true ends the list.
 */
export const openers: readonly ((session: Session) => boolean | Promise<boolean>)[] = [
  openFromAddress,
  openWithExample,
];
