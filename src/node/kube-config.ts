/**
 * The KubeConfig of `@kubernetes/client-node` with connections of our choice. That library makes an agent of its own for
 * every request, in two places that both are public methods of KubeConfig: here they end with another agent. Its types are
 * described by shape, so that the library is nothing this package depends on.
 */
import type { InProcessAgent } from './in-process-agent.js';

/** As much of KubeConfig as is needed. */
export interface KubeConfigLike {
  getCurrentCluster(): object | null;
  loadFromString(text: string): void;
  /** For watches, logs, health checks and web sockets. */
  applyToHTTPSOptions(options: { agent?: unknown }): Promise<void>;
  /** For the API classes. */
  applySecurityAuthentication(context: AgentTaker): Promise<void>;
}

export interface AgentTaker {
  setAgent(agent: InProcessAgent): void;
}

/**
 * From now on all that is made of this KubeConfig (API classes, Watch, informers, Log, Exec, Health) reaches the cluster
 * of the agent, whatever server its contexts name. Their tokens are sent as ever. One that is loaded with nothing yet
 * gets the agent's own kubeconfig. Changes the KubeConfig, and returns it. Throws TypeError for a KubeConfig of release 2,
 * which takes no agents.
 *
 * @example
 * const { CoreV1Api, KubeConfig } = await import('@kubernetes/client-node');
 * const config = connectKubeConfig(new KubeConfig(), createInProcessAgent(cluster));
 * await config.makeApiClient(CoreV1Api).listNamespace();
 */
export function connectKubeConfig<Config extends KubeConfigLike>(kubeConfig: Config, agent: InProcessAgent): Config {
  // From 2.0 on requests are made by undici, which knows no agents; this method came with it.
  if ('createDispatcher' in kubeConfig) throw new TypeError(TOO_NEW);
  const forOptions = kubeConfig.applyToHTTPSOptions.bind(kubeConfig);
  const forContext = kubeConfig.applySecurityAuthentication.bind(kubeConfig);
  if (kubeConfig.getCurrentCluster() === null) kubeConfig.loadFromString(agent.kubeconfig);
  const ours: Pick<KubeConfigLike, 'applyToHTTPSOptions' | 'applySecurityAuthentication'> = {
    async applyToHTTPSOptions(options) {
      await forOptions(options);
      options.agent = agent;
    },
    async applySecurityAuthentication(context) {
      await forContext(context);
      context.setAgent(agent);
    },
  };
  return Object.assign(kubeConfig, ours);
}

const TOO_NEW =
  'orchplane: connectKubeConfig works with client-node 1.x, and this KubeConfig is of client-node 2.x, which takes no ' +
  'agents; install release 1, or reach the cluster over a port: loadFromString((await serve(cluster)).kubeconfig)';
