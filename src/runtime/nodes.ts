/**
 * Creates the nodes of a cluster that has none.
 */
import { type Controller, ControllerPart } from '../controllers/runtime/controller.js';
import { readyNode } from '../controllers/stages/node-stages.js';
import { Node } from '../kinds/core/v1/node/node.js';
import { StatusError } from '../meta/errors.js';

export function nodeRegistration(names: readonly string[]): Controller {
  return {
    name: 'node-registration',
    fieldManager: 'kubelet',
    needs: [Node],
    start: (context) => new NodeRegistration(context, names).start(),
  };
}

class NodeRegistration extends ControllerPart<readonly string[]> {
  readonly #nodes = this.context.informer(Node);
  readonly #queue = this.context.queue(async () => this.#register());

  start(): void {
    this.#queue.add('nodes');
  }

  async #register(): Promise<undefined> {
    if (this.#nodes.list().length > 0) return undefined;
    const { client, dialect } = this.context;
    for (const name of this.options) {
      try {
        await client.api(Node).create(readyNode(name, dialect, this.context.now()));
      } catch (error) {
        // Another process registered it.
        if (!StatusError.is(error, 'AlreadyExists')) throw error;
      }
    }
    return undefined;
  }
}
