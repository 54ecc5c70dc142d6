/**
 * Scenario: a finalizer delays the deletion of an object.
 */
import { listAt, textAt } from '../command-line/json.js';
import { expectThat, type Scenario } from './scenario.js';

export const heldByAFinalizer: Scenario = {
  id: 'finalizer',
  title: 'A deletion that waits',
  summary: 'A finalizer holds a deleted object until somebody has cleaned up behind it.',
  about: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'bucket' },
  steps: [
    {
      title: 'An object with a finalizer',
      prose: 'A finalizer is a name in the metadata. It says: somebody has work to do before this object may go.',
      text: `apiVersion: v1
kind: ConfigMap
metadata:
  name: bucket
  finalizers:
  - example.com/empty-the-bucket
data:
  size: large
`,
      lines: ['apply -f - --server-side --field-manager=me'],
      async check(world) {
        const finalizers = listAt(await world.find('configmap/bucket'), 'metadata', 'finalizers');
        return expectThat(finalizers.length === 1, 'the ConfigMap should have one finalizer');
      },
    },
    {
      title: 'It is deleted, and stays',
      prose:
        'The server takes the deletion, but only notes when it came (`deletionTimestamp`). The object is still there to be read.',
      lines: ['delete configmap bucket', 'get configmap bucket'],
      async check(world) {
        const time = textAt(await world.find('configmap/bucket'), 'metadata', 'deletionTimestamp');
        return expectThat(time !== '', 'the ConfigMap should be there with a deletionTimestamp');
      },
    },
    {
      title: 'There is no way back',
      prose: 'What is being deleted cannot be given another finalizer: the server forbids it.',
      lines: [
        `patch configmap bucket --type=json -p '[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/too-late"}]'`,
      ],
      async check({ ran: [line] }) {
        const isRefused = line?.code === 1 && line.text.includes('no new finalizers can be added');
        return expectThat(isRefused, 'the patch should be refused: no new finalizers can be added');
      },
    },
    {
      title: 'The work is done',
      prose: 'Whoever cleans up takes his finalizer away. It was the last one, so the object goes in the same moment.',
      lines: [`patch configmap bucket --type=merge -p '{"metadata":{"finalizers":null}}'`, 'get configmap bucket'],
      async check(world) {
        return expectThat((await world.find('configmap/bucket')) === undefined, 'the ConfigMap should be gone');
      },
    },
  ],
};
