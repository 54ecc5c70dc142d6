/**
 * Everything the server answers outside of its resources, in the order in which it is asked.
 */
import type { Metrics } from '../metrics.js';
import { respondBody } from '../respond.js';
import { healthPage } from './health.js';
import { openApiPage } from './openapi.js';
import type { Page } from './page.js';
import { rootPage } from './root.js';
import { versionPage } from './version.js';

export interface PageSources {
  readonly metrics: Metrics;
  readonly isClosing: () => boolean;
}

export function pagesOf({ metrics, isClosing }: PageSources): readonly Page[] {
  return [versionPage, healthPage(isClosing), metricsPage(metrics), openApiPage, rootPage];
}

function metricsPage(metrics: Metrics): Page {
  return ({ path, envelope }) => {
    if (path !== '/metrics') return undefined;
    const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' };
    return respondBody(envelope, { code: 200, body: metrics.print(), headers });
  };
}
