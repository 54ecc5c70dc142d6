/**
 * The playground: a control plane that runs in the page. `session/session.ts` holds the state, `app.tsx` the layout.
 */
import { render } from 'preact';
import { App } from './app.js';
import { openers } from './panels/index.js';
import { warnBeforeLoss } from './session/before-unload.js';
import { Session } from './session/session.js';
import './ui/style.css';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no element for the playground');

const session = new Session();
render(<App session={session} />, root);
for (const open of openers) if (await open(session)) break;
session.markSaved();
warnBeforeLoss(session);
