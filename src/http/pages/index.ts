/**
 * Everything the server answers outside of its resources, in the order in which it is asked.
 */
import type { TokenDiscovery } from '../../auth/authentication.js';
import type { Release } from '../../kinds/lifecycle.js';
import { METRICS_CONTENT_TYPE } from '../../metrics/text.js';
import type { Metrics } from '../metrics.js';
import { respondBody } from '../respond.js';
import { healthPage } from './health.js';
import { openApiPage } from './openapi.js';
import { OPENID_PATHS, openIdPage } from './openid.js';
import type { Page } from './page.js';
import { rootPage } from './root.js';
import { versionPage } from './version.js';

export interface PageSources {
  readonly metrics: Metrics;
  readonly isClosing: () => boolean;
  /** The release that is played. */
  readonly release: Release;
  /** Absent where no tokens are signed. */
  readonly discovery?: TokenDiscovery | undefined;
}

export function pagesOf({ metrics, isClosing, release, discovery }: PageSources): readonly Page[] {
  const root = rootPage(discovery === undefined ? [] : OPENID_PATHS);
  return [versionPage(release), healthPage(isClosing), metricsPage(metrics), openApiPage, openIdPage(discovery), root];
}

function metricsPage(metrics: Metrics): Page {
  return ({ path, envelope }) => {
    if (path !== '/metrics') return undefined;
    const headers = { 'Content-Type': METRICS_CONTENT_TYPE };
    return respondBody(envelope, { code: 200, body: metrics.print(), headers });
  };
}
